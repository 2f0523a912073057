/** Plans the tools of a document in a worker thread with limits of time and memory. */
import { Worker } from 'node:worker_threads'
import { CadreError, createValidationError } from '../../../src/contract/errors.ts'
import { getWorkerUrl } from '../../process/worker-url.ts'
import type { Plan } from './plan-tools.ts'
import type { PlanOutcome, PlanTask } from './worker.ts'

/** Parsing 5 MB of YAML takes ten seconds of CPU time. */
const TIMEOUT_MS = 60_000
const MAX_MEMORY_MB = 768

export async function planInWorker(task: PlanTask, field: string): Promise<Plan> {
  const outcome = await runWorker(task)
  if (outcome.kind === 'plan') return outcome.plan
  if (outcome.field !== undefined) throw createValidationError(outcome.field, outcome.reason, outcome.hint)
  throw createValidationError(field, `cannot be imported: ${outcome.reason}`, outcome.hint)
}

async function runWorker(workerData: PlanTask): Promise<PlanOutcome> {
  const url = getWorkerUrl('dist/daemon/api-tools/openapi-worker.js', new URL('worker.ts', import.meta.url))
  const worker = new Worker(url, { name: 'openapi', workerData, resourceLimits: { maxOldGenerationSizeMb: MAX_MEMORY_MB } })
  let timer: NodeJS.Timeout | undefined
  try {
    return await new Promise<PlanOutcome>((resolve, reject) => {
      timer = setTimeout(() => resolve({ kind: 'refused', reason: `parsing it took longer than ${TIMEOUT_MS / 1000} s` }), TIMEOUT_MS)
      worker.once('message', resolve)
      worker.once('error', reject)
      worker.once('exit', (code) => reject(new Error(`The OpenAPI worker exited with code ${code}.`)))
    })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_WORKER_OUT_OF_MEMORY')
      return { kind: 'refused', reason: `parsing it needs more than ${MAX_MEMORY_MB} MB of memory` }
    throw new CadreError('INTERNAL', 'The document could not be read. This is a bug.', { cause: error })
  } finally {
    clearTimeout(timer)
    await worker.terminate()
  }
}
