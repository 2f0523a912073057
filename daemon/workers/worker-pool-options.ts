/** Options of a worker pool and of its jobs. */
import type { Clock } from '../async/clock.ts'
import type { Logger } from '../logging/logger.ts'
import type { JobRequest } from './fair-job-queue.ts'
import type { WorkerHandle } from './start-worker.ts'
import type { Priority } from './worker-protocol.ts'

export type WorkerPoolLogger = Pick<Logger, 'debug' | 'warn'>

export interface WorkerPoolOptions {
  /** What the workers do, for messages: "embedded model". */
  name: string
  /** Maximum number of workers. */
  size: number
  start(): WorkerHandle
  /** Workers end after this long without work and free their memory. */
  idleMs: number
  /** Time limit of a job, or of each part of its result. Time in which a part is handled does not count. Default: none. */
  timeoutMs?: number
  /** Further jobs fail while this many are waiting. */
  maxQueued: number
  /** Another worker starts for each of these many unfinished jobs. Default: 1. */
  jobsPerWorker?: Record<Priority, number>
  /**
   * Jobs of the priority or a higher one sent to a worker before it has finished the last, for short jobs. They are not interrupted if they
   * are aborted.
   * Default: one at a time, and an aborted job ends its worker.
   */
  pipeline?: Record<Priority, number>
  /** How often a job is started if its worker is lost. Default: 1. */
  attempts?: number
  logger?: WorkerPoolLogger | undefined
  clock?: Clock | undefined
}

export interface JobOptions<Part = never> {
  signal?: AbortSignal | undefined
  priority?: Priority | undefined
  /** Jobs of different owners take turns. Default: jobs run in their order. */
  owner?: unknown
  /** The jobs of one request with a high priority are done one after another. Default: each job is a request of its own. */
  request?: JobRequest | undefined
  timeoutMs?: number | undefined
  /** Receives the parts of the result. The next one is requested when it resolves. */
  onPart?: (part: Part) => Promise<void>
  /** The worker ends after the job, because it would keep much memory. */
  endsWorker?: boolean
}
