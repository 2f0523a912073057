/** The embedded reading model, which finds the answer to a question in a text (docs/reader.md). */
import { join } from 'node:path'
import { END_TOKEN, type MinilmTokenizer, START_TOKEN, type Word } from './minilm-tokenizer.ts'
import type { Reading } from './model-task.ts'
import { openModel, type RunModel } from './onnx-session.ts'

/** The model was trained with these lengths (training/model.py and training/encode.py). */
const MAX_TOKENS = 384
const MAX_QUESTION_TOKENS = 64
/** A longer text is read in windows that overlap by this many words. */
const WINDOW_OVERLAP = 40
const MAX_WINDOWS = 6
/** Outputs of each token: begin, end, relevance. */
const OUTPUTS = 3

export class ReadingModel {
  readonly #run: RunModel
  readonly #tokenizer: MinilmTokenizer

  private constructor(run: RunModel, tokenizer: MinilmTokenizer) {
    this.#run = run
    this.#tokenizer = tokenizer
  }

  static async load(directory: string, tokenizer: MinilmTokenizer): Promise<ReadingModel> {
    return new ReadingModel(await openModel(join(directory, 'reader.onnx')), tokenizer)
  }

  async read(question: string, text: string): Promise<Reading> {
    const questionIds = this.#tokenizer.encodeWords(question, MAX_QUESTION_TOKENS).flatMap(({ ids }) => ids)
    const room = MAX_TOKENS - questionIds.length - 3
    const words = this.#tokenizer.encodeWords(text, room * MAX_WINDOWS)
    const reading: Reading = {
      words: Uint32Array.from(words.flatMap(({ start, end }) => [start, end])),
      begins: new Float32Array(words.length).fill(Number.NEGATIVE_INFINITY),
      ends: new Float32Array(words.length).fill(Number.NEGATIVE_INFINITY),
      noAnswer: Number.POSITIVE_INFINITY,
      relevance: Number.NEGATIVE_INFINITY,
    }
    for (let first = 0, windows = 0; windows < MAX_WINDOWS; windows++) {
      const last = findWindowEnd(words, first, room)
      await this.#readWindow(questionIds, words, first, last, reading)
      if (last >= words.length) break
      first = Math.max(first + 1, last - WINDOW_OVERLAP)
    }
    return reading
  }

  /** Each word keeps its best scores; the text has no answer if no window has one. */
  async #readWindow(question: readonly number[], words: readonly Word[], first: number, last: number, reading: Reading): Promise<void> {
    const window = words.slice(first, last)
    const ids = [START_TOKEN, ...question, END_TOKEN, ...window.flatMap((word) => word.ids), END_TOKEN]
    const logits = await this.#run(BigInt64Array.from(ids, BigInt), 'logits')
    const getLogit = (token: number, output: number) => logits[token * OUTPUTS + output] as number
    reading.noAnswer = Math.min(reading.noAnswer, getLogit(0, 0) + getLogit(0, 1))
    reading.relevance = Math.max(reading.relevance, getLogit(0, 2))
    let token = question.length + 2
    for (const [offset, word] of window.entries()) {
      const index = first + offset
      reading.begins[index] = Math.max(reading.begins[index] as number, getLogit(token, 0))
      token += word.ids.length
      reading.ends[index] = Math.max(reading.ends[index] as number, getLogit(token - 1, 1))
    }
  }
}

/** Returns the index after the last word that fits into a window. Each word fits, because the tokenizer limits its length. */
function findWindowEnd(words: readonly Word[], first: number, room: number): number {
  let last = first
  for (let tokens = 0; last < words.length; last++) {
    tokens += (words[last] as Word).ids.length
    if (tokens > room) break
  }
  return last
}
