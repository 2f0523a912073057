/** A query that a question may mean, with its features. */
import type { LinkedCondition } from './linking/links.ts'
import type { Span } from './parse-question.ts'
import type { Query } from './query.ts'

/** The features of a part of queries, such as a column to show. Parts are shared by candidates. */
export interface Part {
  features: string[]
  /** The words of the question that the part explains. */
  mask: number
  /** Set when the part is scored. */
  score?: number
}

export interface Candidate {
  query: Query
  parts: Part[]
  features: string[]
  /** The number of words of the question that neither the query nor its operation explains. */
  unexplained: number
}

/** Conditions that different words of the question state. */
export interface FilterSet {
  conditions: LinkedCondition[]
  mask: number
}

/** Words after these are not counted. */
const MAX_WORDS = 31

/** Returns the words of a span as bits. */
export const getMask = ({ start, end }: Span): number => {
  let mask = 0
  for (let index = start; index < end && index < MAX_WORDS; index++) mask |= 1 << index
  return mask
}

/** Returns the words of all spans as bits. */
export const getMasks = (spans: readonly Span[]): number => spans.reduce((mask, span) => mask | getMask(span), 0)

export const countBits = (mask: number): number => {
  let count = 0
  for (let rest = mask; rest !== 0; rest &= rest - 1) count++
  return count
}
