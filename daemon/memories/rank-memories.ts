/** Ranks memories by words and by meaning. A user has few of them, so all are compared: an index would have to be kept in step. */
import { tokenize } from '../language/tokenize.ts'
import type { StoredMemory } from './store.ts'

/** Weakens the difference between the first ranks (reciprocal rank fusion). */
const RANK_OFFSET = 60
/** Below this similarity, vectors of short texts say nothing. */
const MIN_SIMILARITY = 0.25
const SCALE = 127
const K1 = 1.2
const B = 0.75

/** Encodes a normalized vector with one byte per dimension. */
export const encodeVector = (vector: Float32Array): string =>
  Buffer.from(Int8Array.from(vector, (value) => Math.round(value * SCALE)).buffer).toString('base64')

const decodeVector = (text: string): Int8Array => new Int8Array(Buffer.from(text, 'base64'))

export interface RankedMemory {
  memory: StoredMemory
  score: number
}

/** Returns the memories that match, best first. Without a vector, only words are compared. */
export function rankMemories(memories: readonly StoredMemory[], query: string, vector: Float32Array | undefined): RankedMemory[] {
  const scores = new Map<StoredMemory, number>()
  for (const ranking of [rankByWords(memories, query), vector ? rankByMeaning(memories, vector) : []])
    for (const [rank, memory] of ranking.entries()) scores.set(memory, (scores.get(memory) ?? 0) + 1 / (RANK_OFFSET + rank + 1))
  return [...scores].map(([memory, score]) => ({ memory, score })).sort((a, b) => b.score - a.score || compareAge(a.memory, b.memory))
}

const compareAge = (one: StoredMemory, other: StoredMemory): number => (one.updated_at < other.updated_at ? 1 : -1)

function sortByScore(memories: readonly StoredMemory[], computeScore: (memory: StoredMemory) => number, minimum: number): StoredMemory[] {
  return memories
    .map((memory) => ({ memory, score: computeScore(memory) }))
    .filter(({ score }) => score > minimum)
    .sort((a, b) => b.score - a.score)
    .map(({ memory }) => memory)
}

/** BM25. */
function rankByWords(memories: readonly StoredMemory[], query: string): StoredMemory[] {
  const terms = new Set(tokenize(query).split(' '))
  const texts = new Map(memories.map((memory) => [memory, memory.words.split(' ')]))
  const averageLength = [...texts.values()].reduce((sum, words) => sum + words.length, 0) / Math.max(1, texts.size)
  const frequencies = new Map<string, number>()
  for (const words of texts.values())
    for (const word of new Set(words)) if (terms.has(word)) frequencies.set(word, (frequencies.get(word) ?? 0) + 1)
  const computeScore = (memory: StoredMemory) => {
    const words = texts.get(memory) ?? []
    let score = 0
    for (const [term, documents] of frequencies) {
      const count = words.filter((word) => word === term).length
      const rarity = Math.log(1 + (texts.size - documents + 0.5) / (documents + 0.5))
      score += (rarity * count * (K1 + 1)) / (count + K1 * (1 - B + (B * words.length) / averageLength))
    }
    return score
  }
  return sortByScore(memories, computeScore, 0)
}

function rankByMeaning(memories: readonly StoredMemory[], vector: Float32Array): StoredMemory[] {
  const computeSimilarity = ({ vector: stored }: StoredMemory) => {
    if (stored === null) return 0
    const values = decodeVector(stored)
    let sum = 0
    for (let index = 0; index < values.length; index++) sum += (values[index] as number) * (vector[index] ?? 0)
    return sum / SCALE
  }
  return sortByScore(memories, computeSimilarity, MIN_SIMILARITY)
}
