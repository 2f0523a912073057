/** The result of a question over a table, with how it was computed. */
import { isDataFileName, type SqlValue } from './typed-table.ts'

export interface Computation {
  /** The result as text. */
  values: string[]
  /** The rows of the result as text, numbers with their units. */
  cells: string[][]
  /** The result as the query returns it. Groups have a name and a number each, listed rows all cells. */
  result: SqlValue[][]
  /** Names the columns of the result, if it has several. */
  resultHeader: string[]
  sql: string
  table: string
  /** The document with the table. */
  document: string
  documentId: string
  contentHash: string
  /** What the query does, in plain words. */
  interpretation: string
  /** Whether words of the question were only taken to mean names of the table. */
  isUncertain?: true
  /** The columns of the table. */
  header: string[]
  /** The positions of those that the query compares, orders, groups or shows. */
  usedColumns: number[]
  /** The first rows that were used: their number, then their cells. */
  rowsUsed: SqlValue[][]
  /** The number of all rows that were used. */
  rowCount: number
  /** The number of rows of the table. */
  tableRowCount: number
  /** The number of the citation of these rows, if there is one. */
  citation?: number
}

export interface ComputedAnswer {
  /** The readings of the question with their results, best first; none if it cannot be computed. */
  computations: Computation[]
  /** Says what was understood and what not, if the question is about a table but cannot be computed. */
  problem?: {
    document: string
    text: string
    /** Words for what a named row would have to say, and no column does: "phone". */
    missing: string[]
  }
  /** Says that a question for a computation could not be tried. */
  notice?: string
}

/** @param closest the names of the documents with the best passages: a table in another text only shares words with the question. */
export type Compute = (question: string, closest: readonly string[], signal?: AbortSignal) => Promise<ComputedAnswer>

/** A table in a text may be about something else: another document is then closer, or tables of several documents are as likely. */
export function keepRelevant(answer: ComputedAnswer, closest: readonly string[]): ComputedAnswer {
  const isClear = new Set(answer.computations.map(({ document }) => document)).size === 1
  const isRelevant = ({ document }: Computation) => isDataFileName(document) || (isClear && closest.includes(document))
  return { ...answer, computations: answer.computations.filter(isRelevant) }
}
