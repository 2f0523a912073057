/** Builds and queries tables in a process, within limits of time and memory. */
import { CadreError } from '../../../src/contract/errors.ts'
import { startProcess } from '../../workers/start-worker.ts'
import { WorkerPool } from '../../workers/worker-pool.ts'
import type { JobOptions, WorkerPoolLogger } from '../../workers/worker-pool-options.ts'
import type { TableOutcome, TableResults, TableTask } from './table-task.ts'

interface TablePoolOptions {
  /** Limit of the memory of the process. */
  memoryMb: number
  /** Processes. */
  size?: number
  /** Nobody waits for its tasks. */
  isBackground?: boolean
  idleMs?: number
  logger?: WorkerPoolLogger | undefined
}

const WORKER = { built: 'dist/daemon/knowledge/table-worker.js', source: new URL('table-worker.ts', import.meta.url) }
const MAX_QUEUED = 1_000

export class TablePool {
  readonly #pool: WorkerPool<TableTask, TableOutcome>

  constructor({ memoryMb, size = 1, isBackground = false, idleMs = 60_000, logger }: TablePoolOptions) {
    this.#pool = new WorkerPool({
      name: 'reader of tables',
      size,
      start: () => startProcess(WORKER, { memoryMb, isBackground }),
      idleMs,
      maxQueued: MAX_QUEUED,
      logger,
    })
  }

  /** Throws a WorkerError if the task exceeds a limit. */
  async run<K extends TableTask['kind']>(
    task: Extract<TableTask, { kind: K }>,
    options: Pick<JobOptions, 'signal' | 'endsWorker'> & { timeoutMs: number },
  ): Promise<TableResults[K]> {
    const outcome = await this.#pool.run(task, options)
    if (outcome.kind === 'refused') throw new CadreError(outcome.code, outcome.message, { hint: outcome.hint })
    return outcome.result as TableResults[K]
  }

  close(): Promise<void> {
    return this.#pool.close()
  }
}
