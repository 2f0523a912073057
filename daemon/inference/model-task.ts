/** What the workers of the embedded models do. */

/** A text to embed or, with a question, to read. */
export interface ModelTask {
  text: string
  question?: string
}

/** What the reading model says about each word of a text. Scores are logits. */
export interface Reading {
  /** First and last character (exclusive) of each word, in pairs. */
  words: Uint32Array
  /** Scores of the answer beginning and ending with each word. */
  begins: Float32Array
  ends: Float32Array
  /** Score of the text having no answer, on the scale of the sum of a begin and an end. */
  noAnswer: number
  /** Score of the text being about the question. */
  relevance: number
}

export type ModelResult = Float32Array | Reading
