/** Messages between a worker pool and its workers. */

/** `high`: somebody waits for the result. `low`: everything else comes first. */
export const PRIORITIES = ['high', 'normal', 'low'] as const
export type Priority = (typeof PRIORITIES)[number]

/** `next` requests the next part of a result. */
export type PoolMessage<Task> = { kind: 'job'; id: number; priority: Priority; task: Task } | { kind: 'next'; id: number }

export type WorkerMessage<Result, Part> =
  | { kind: 'ready' }
  /** The worker cannot do any job. */
  | { kind: 'broken'; error: string }
  | { kind: 'part'; id: number; part: Part }
  | ({ kind: 'result'; id: number; result: Result } & WorkerState)
  | ({ kind: 'error'; id: number; error: string } & WorkerState)

interface WorkerState {
  /** The worker exceeds its memory limit: it is about to end, and another job would fail. */
  isTooLarge?: boolean
}

/** Argument that tells a process its memory limit. */
export const MEMORY_ARGUMENT = '--memory-mb='
