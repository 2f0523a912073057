/** What the pool and its threads say to each other. */

export interface Question {
  number: number
  text: string
  urgent: boolean
}

export type Message = { kind: 'ready' } | { kind: 'vector'; number: number; vector: Float32Array } | { kind: 'problem'; number: number; problem: string }
