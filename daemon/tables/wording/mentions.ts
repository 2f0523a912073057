/** The words of a question, and the dates among them. */
import type { Comparison } from '../vocabulary.ts'

export interface Word {
  text: string
  stem: string
  isStop: boolean
  number?: number
  /** The sign or word beside a number, such as "%" or "kg", in lower case. */
  unit?: string
  /** Whether the word is one of the table's title, and therefore names its rows. */
  isTitle?: true
  /** Whether the word names nothing in the table, and was only taken to name its rows or to connect other words. */
  isIgnored?: true
}

/** A part of a question: the words from `start` up to but not including `end`. */
export interface Span {
  start: number
  end: number
}

/** A year, a month, or both, or a day. */
export interface DateMention extends Span {
  /** The first moment, and the first after it, as prefixes of ISO dates. Both are empty for months without a year and weekdays. */
  from: string
  to: string
  months?: readonly number[]
  weekdays?: readonly number[]
  /** Whether it is one day, or a range of days. */
  isDay?: true
  comparison: Comparison
}
