/** What the words of a question name in a table: columns and conditions. */
import { covers, type Span } from '../parse-question.ts'
import type { Condition } from '../query.ts'

export interface ColumnLink extends Span {
  column: number
  /** How the words match the header: all of its words, some of them, or a word that means the same. */
  match: 'exact' | 'part' | 'synonym'
}

export interface LinkedCondition extends Span {
  condition: Condition
  match: 'exact' | 'part' | 'number' | 'comparison' | 'date' | 'boolean' | 'empty' | 'pair' | 'row'
}

export interface Links {
  columns: ColumnLink[]
  conditions: LinkedCondition[]
}

/** Whether a word is one of a column's header. */
export const isInHeader = ({ columns }: Links, index: number): boolean =>
  columns.some((link) => link.match !== 'synonym' && covers(link, index))
