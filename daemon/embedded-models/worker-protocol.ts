/** Messages between the worker pool and its workers. */

export interface WorkerRequest {
  id: number
  text: string
  isUrgent: boolean
}

export type WorkerMessage =
  | { kind: 'ready' }
  /** The worker could not load the model. */
  | { kind: 'broken'; error: string }
  | { kind: 'vector'; id: number; vector: Float32Array }
  | { kind: 'error'; id: number; error: string }
