/** Worker thread that parses one OpenAPI document: a malicious one can exhaust only this thread. */
import { serveJobs } from '../../workers/serve-jobs.ts'
import { InvalidDocumentError } from './json.ts'
import { type Plan, type PlanOptions, planTools } from './plan-tools.ts'

export interface PlanTask {
  text: string
  options: PlanOptions
}

export type PlanOutcome =
  | { kind: 'plan'; plan: Plan }
  | { kind: 'refused'; reason: string; field?: string | undefined; hint?: string | undefined }

await serveJobs<PlanTask, PlanOutcome>(() => ({ text, options }) => {
  try {
    return { kind: 'plan', plan: planTools(text, options) }
  } catch (error) {
    if (!(error instanceof InvalidDocumentError)) throw error
    return { kind: 'refused', reason: error.message, field: error.field, hint: error.hint }
  }
})
