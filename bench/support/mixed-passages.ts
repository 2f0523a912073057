/** Any number of passages like real ones: embeds some real passages and mixes them. */
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import type { Embedder } from '../../daemon/embedding/embedder.ts'
import { PASSAGE_CHARACTERS } from './passages.ts'
import { loadRetrievalSets } from './retrieval-sets.ts'

/** Files of questions and passages (`*.jsonl.gz`), used in addition to the retrieval sets. */
const READER_FOLDER = process.env.CADRE_READER_SETS ?? join('..', 'shared', 'reader')
const MIN_CHARACTERS = 60
const DIMENSIONS = 384
const EMBED_BATCH = 256
const SENTENCE = /[^.!?\n]+[.!?\n]*/g

export interface MixedPassage {
  content: string
  vector: Float32Array
}

export class MixedPassages {
  readonly #vectors: Float32Array
  readonly #sentences: string[][]
  readonly #random = new Random()

  private constructor(texts: readonly string[], vectors: Float32Array) {
    this.#vectors = vectors
    this.#sentences = texts.map((text) => text.match(SENTENCE) ?? [text])
  }

  /** Embedding takes 30 ms of CPU per passage, so the vectors are kept for the next run. */
  static async load(embedder: Embedder, count: number): Promise<MixedPassages> {
    const texts = readRealPassages().slice(0, count)
    const hash = createHash('sha256').update(texts.join('\n')).digest('hex').slice(0, 16)
    const path = join(tmpdir(), `cadre-bench-${hash}.f32`)
    if (!existsSync(path)) {
      const vectors = new Float32Array(texts.length * DIMENSIONS)
      for (let from = 0; from < texts.length; from += EMBED_BATCH)
        for (const [at, vector] of (await embedder.embed(texts.slice(from, from + EMBED_BATCH))).entries())
          vectors.set(vector, (from + at) * DIMENSIONS)
      writeFileSync(path, vectors)
    }
    const bytes = readFileSync(path)
    return new MixedPassages(texts, new Float32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4))
  }

  get realCount(): number {
    return this.#sentences.length
  }

  /**
   * A real passage, moved up to a third of the way to a second one and by the difference of two others, so that the new vectors are
   * spread like the real ones. The text consists of sentences of the first two. Deterministic.
   */
  next(): MixedPassage {
    const [base, other, plus, minus] = [this.#pick(), this.#pick(), this.#pick(), this.#pick()] as const
    const [part, change] = [0.35 * this.#random.next(), 0.15 + 0.3 * this.#random.next()]
    const [a, b, c, d] = [this.#vector(base), this.#vector(other), this.#vector(plus), this.#vector(minus)] as const
    const vector = new Float32Array(DIMENSIONS)
    let squares = 0
    for (let at = 0; at < DIMENSIONS; at++) {
      const value = (1 - part) * (a[at] as number) + part * (b[at] as number) + change * ((c[at] as number) - (d[at] as number))
      vector[at] = value
      squares += value * value
    }
    const length = Math.sqrt(squares)
    for (let at = 0; at < DIMENSIONS; at++) vector[at] = (vector[at] as number) / length
    return { content: this.#mixSentences(base, other), vector }
  }

  #mixSentences(first: number, second: number): string {
    const sentences = [...(this.#sentences[first] as string[]), ...(this.#sentences[second] as string[])]
    const start = Math.floor(this.#random.next() * sentences.length)
    let text = ''
    for (let at = 0; at < sentences.length && text.length < PASSAGE_CHARACTERS - 100; at++)
      text += `${(sentences[(start + at * 7) % sentences.length] as string).trim()} `
    return text.trimEnd()
  }

  #pick = (): number => Math.floor(this.#random.next() * this.#sentences.length)
  #vector = (index: number): Float32Array => this.#vectors.subarray(index * DIMENSIONS, (index + 1) * DIMENSIONS)
}

/** Questions of the retrieval sets that MiniLM understands. */
export const readRealQuestions = (count: number): string[] => {
  const questions = loadEnglishSets().flatMap(({ queries }) => queries.map(({ text }) => text))
  return questions.filter((_, at) => at % Math.max(1, Math.floor(questions.length / count)) === 0).slice(0, count)
}

const loadEnglishSets = () => loadRetrievalSets().filter(({ name }) => name !== 'xquad_zh')

/** The passages of all sets without duplicates, in a random but fixed order. */
export function readRealPassages(): string[] {
  const passages = new Set<string>()
  const add = (text: string) => text.length > MIN_CHARACTERS && passages.add(text.slice(0, PASSAGE_CHARACTERS))
  for (const { text } of loadEnglishSets().flatMap(({ documents }) => documents))
    for (let from = 0; from < text.length; from += PASSAGE_CHARACTERS) add(text.slice(from, from + PASSAGE_CHARACTERS))
  const files = existsSync(READER_FOLDER) ? readdirSync(READER_FOLDER).filter((name) => name.endsWith('.jsonl.gz')) : []
  for (const file of files.sort())
    for (const line of gunzipSync(readFileSync(join(READER_FOLDER, file)))
      .toString()
      .split('\n'))
      if (line !== '') add((JSON.parse(line) as { passage: string }).passage)
  return shuffle([...passages])
}

function shuffle(items: string[]): string[] {
  let state = 1
  for (let last = items.length - 1; last > 0; last--) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0
    const at = Math.floor(((state >>> 0) / 2 ** 32) * (last + 1))
    const swapped = items[last] as string
    items[last] = items[at] as string
    items[at] = swapped
  }
  return items
}

class Random {
  #state = 1

  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
