/** What the pool and its workers say to each other. */

export interface Question {
  number: number
  text: string
  urgent: boolean
}

export type Message =
  | { kind: 'ready' }
  /** It could not load the model and will answer nothing. */
  | { kind: 'broken'; problem: string }
  | { kind: 'vector'; number: number; vector: Float32Array }
  | { kind: 'problem'; number: number; problem: string }
