/** What the words of a question name in a table: columns and conditions. */
import { expandHeader } from '../cells/header-words.ts'
import { covers, type Question, type Span, splitWords } from '../parse-question.ts'
import type { Condition } from '../query.ts'
import type { TypedTable } from '../typed-table.ts'

export interface ColumnLink extends Span {
  column: number
  /** How the words match the header: all of its words, some of them, or a word that means the same. */
  match: 'exact' | 'part' | 'synonym'
}

export const RANKS = { exact: 3, part: 2, synonym: 1 }

export interface LinkedCondition extends Span {
  condition: Condition
  match: 'exact' | 'part' | 'number' | 'comparison' | 'date' | 'boolean' | 'empty' | 'pair' | 'row'
}

export interface Links {
  columns: ColumnLink[]
  conditions: LinkedCondition[]
}

/** The stems of a header's words with content. */
export const listHeaderStems = (header: string): string[] =>
  splitWords(expandHeader(header)).flatMap(({ stem, isStop }) => (isStop ? [] : [stem]))

export const listTitleStems = ({ title }: TypedTable): Set<string> =>
  new Set(splitWords(title.replaceAll(/[_./-]/g, ' ')).map(({ stem }) => stem))

/** Whether a word is one of a column's header. */
export const isInHeader = ({ columns }: Links, index: number): boolean =>
  columns.some((link) => link.match !== 'synonym' && covers(link, index))

/** Whether a word is one of those that state the conditions. */
export const isStatedBy = ({ conditions: linked }: Links, index: number, conditions: readonly Condition[]): boolean =>
  linked.some((each) => conditions.includes(each.condition) && covers(each, index))

/** "Fuel cost" is the column "Fuel cost", not the column "Fuel". */
export const isPartOfHeader = ({ start, end, column }: ColumnLink, { columns }: Links): boolean =>
  columns.some(
    (other) =>
      other.match === 'exact' &&
      other.column !== column &&
      other.start <= start &&
      other.end >= end &&
      other.end - other.start > end - start,
  )

/** "Hours" and "worked" of "who worked the most hours" name the column "Hours worked". */
export function isWholeHeader({ stems }: Question, { match, column }: ColumnLink, { columns }: TypedTable): boolean {
  const header = listHeaderStems(columns[column]?.header ?? '')
  return match === 'part' && header.length > 1 && header.every((stem) => stems.has(stem))
}
