/** What the pool and its workers say to each other. */

export interface WorkerRequest {
  number: number
  text: string
  isUrgent: boolean
}

export type WorkerMessage =
  | { kind: 'ready' }
  /** It could not load the model and will answer nothing. */
  | { kind: 'broken'; problem: string }
  | { kind: 'vector'; number: number; vector: Float32Array }
  | { kind: 'problem'; number: number; problem: string }
