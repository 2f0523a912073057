/** Plans the tools of OpenAPI documents in threads with limits of time and memory. */
import { createValidationError } from '../../../src/contract/errors.ts'
import { scaleTimeout } from '../../../src/deadline.ts'
import { startThread } from '../../workers/start-worker.ts'
import { WorkerError } from '../../workers/worker-error.ts'
import { WorkerPool } from '../../workers/worker-pool.ts'
import type { Plan } from './plan-tools.ts'
import type { PlanOutcome, PlanTask } from './worker.ts'

const WORKER = { built: 'dist/daemon/api-tools/openapi-worker.js', source: new URL('worker.ts', import.meta.url) }
const MAX_THREADS = 2
/** Parsing 5 MB of YAML takes ten seconds of CPU time. */
const TIMEOUT_MS = 60_000
const MAX_MEMORY_MB = 768
const MAX_QUEUED = 20

export class ToolPlanner {
  readonly #pool = new WorkerPool<PlanTask, PlanOutcome>({
    name: 'OpenAPI parser',
    size: MAX_THREADS,
    start: () => startThread(WORKER, { name: 'openapi', memoryMb: MAX_MEMORY_MB }),
    timeoutMs: scaleTimeout(TIMEOUT_MS),
    idleMs: 1_000,
    maxQueued: MAX_QUEUED,
  })

  /** @param field the field of the request that contains the document or its address */
  async plan(task: PlanTask, field: string): Promise<Plan> {
    // A document may need much memory, which the thread would keep.
    const outcome = await this.#pool.run(task, { endsWorker: true }).catch(toRefusal)
    if (outcome.kind === 'plan') return outcome.plan
    if (outcome.field !== undefined) throw createValidationError(outcome.field, outcome.reason, outcome.hint)
    throw createValidationError(field, `cannot be imported: ${outcome.reason}`, outcome.hint)
  }
}

function toRefusal(error: unknown): Extract<PlanOutcome, { kind: 'refused' }> {
  if (error instanceof WorkerError && error.problem === 'timeout')
    return { kind: 'refused', reason: `parsing it took longer than ${TIMEOUT_MS / 1000} s` }
  if (error instanceof WorkerError && error.problem === 'memory')
    return { kind: 'refused', reason: `parsing it needs more than ${MAX_MEMORY_MB} MB of memory` }
  throw error
}
