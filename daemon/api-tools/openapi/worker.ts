/** A thread that reads one OpenAPI document: a hostile one can cost its time and memory, and no more. */
import { parentPort, workerData } from 'node:worker_threads'
import { Unusable } from './json.ts'
import { type Plan, type PlanOptions, planned } from './plan.ts'

export interface Task {
  text: string
  options: PlanOptions
}

export type Outcome =
  | { kind: 'plan'; plan: Plan }
  | { kind: 'refused'; reason: string; field?: string | undefined; hint?: string | undefined }

function outcome({ text, options }: Task): Outcome {
  try {
    return { kind: 'plan', plan: planned(text, options) }
  } catch (error) {
    if (!(error instanceof Unusable)) throw error
    return { kind: 'refused', reason: error.message, field: error.field, hint: error.hint }
  }
}

if (!parentPort) throw new Error('This file runs in a worker thread.')
parentPort.postMessage(outcome(workerData as Task))
