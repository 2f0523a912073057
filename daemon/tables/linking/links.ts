/** What the words of a question name in a table: columns and conditions. */
import { stem } from '../../language/content-words.ts'
import { isMoney } from '../cells/column-roles.ts'
import { expandHeader } from '../cells/header-words.ts'
import { covers, type Question, type Span, splitWords, type Word } from '../parse-question.ts'
import type { Condition } from '../query.ts'
import type { Column, TypedTable } from '../typed-table.ts'

export interface ColumnLink extends Span {
  column: number
  /** How the words match the header: all of its words, some of them, or a word that means the same. */
  match: 'exact' | 'part' | 'synonym'
}

export const RANKS = { exact: 3, part: 2, synonym: 1 }

export interface LinkedCondition extends Span {
  condition: Condition
  match: 'exact' | 'part' | 'number' | 'comparison' | 'date' | 'boolean' | 'empty' | 'pair' | 'row'
  /** Whether the words say more than that the column is named, so that a query must not drop them: "running", "called off". */
  isState?: true
}

export interface Links {
  columns: ColumnLink[]
  conditions: LinkedCondition[]
}

/** Returns the words that a pattern for words in small letters with single spaces between them finds. */
export function findPatterns(words: readonly Word[], pattern: RegExp): Span[] {
  const text = words.map((word) => word.text).join(' ')
  const count = (part: string) => (part.match(/ /g) ?? []).length
  return Array.from(text.matchAll(pattern), ({ 0: found, index }) => {
    const start = count(text.slice(0, index))
    return { start, end: start + count(found) + 1 }
  })
}

/** The stems of the words with content in the header of a column. */
export const listHeaderStems = (column: Pick<Column, 'header'> | undefined): string[] =>
  splitWords(expandHeader(column?.header ?? '')).flatMap(({ stem, isStop }) => (isStop ? [] : [stem]))

/** Whether the header of a column has one of the words. */
export const hasHeaderStem = (column: Pick<Column, 'header'> | undefined, stems: ReadonlySet<string>): boolean =>
  listHeaderStems(column).some((stem) => stems.has(stem))

/** The mail or archive that contains a file says nothing about the rows of its table: "mail/offer.eml/options.csv". */
const CONTAINER = /^.*\.\w{2,5}\/(?=.*\.\w{2,5}\b)/

const splitTitle = (title: string): Word[] => splitWords(title.replace(CONTAINER, '').replaceAll(/[_./-]/g, ' '))

export const listTitleStems = ({ title }: TypedTable): Set<string> => new Set(splitTitle(title).map(({ stem }) => stem))

/** The stems of all words of the title and the headers. */
export const listTableStems = (table: TypedTable): string[] => [...listTitleStems(table), ...table.columns.flatMap(listHeaderStems)]

/** The stems of words in the plural: "stock" does not name single rows. */
export const listPluralTitles = ({ title }: TypedTable): string[] =>
  splitTitle(title).flatMap(({ text, stem }) => (text.endsWith('s') ? [stem] : []))

/** Marks the columns of whole numbers that are called as the rows of a table: "Job" beside jobs.csv has their numbers. */
export const markReferences = <T extends TypedTable>(table: T, titles: ReadonlySet<string>): T => {
  const isReference = (column: Column) =>
    column.type === 'integer' && !isMoney(column) && /^\p{L}+(?<!s)$/u.test(column.header) && titles.has(stem(column.header.toLowerCase()))
  return { ...table, columns: table.columns.map((column) => (isReference(column) ? { ...column, isReference: true as const } : column)) }
}

/** Returns the link that matches best, the first of several. */
export const selectBestLink = (links: readonly ColumnLink[]): ColumnLink | undefined =>
  links.reduce<ColumnLink | undefined>((best, link) => (!best || RANKS[link.match] > RANKS[best.match] ? link : best), undefined)

/** Whether a word names a column or states a condition. */
export const isLinked = ({ columns, conditions }: Links, index: number): boolean =>
  [...columns, ...conditions].some((link) => covers(link, index))

/** Whether a word is one of a value that the question names in full. */
export const isInValue = ({ conditions }: Links, index: number): boolean =>
  conditions.some((linked) => linked.match === 'exact' && covers(linked, index))

/** Whether a word is one of a column's header. */
export const isInHeader = ({ columns }: Links, index: number): boolean =>
  columns.some((link) => link.match !== 'synonym' && covers(link, index))

/** Whether a word is one of those that state the conditions. */
export const isStatedBy = ({ conditions: linked }: Links, index: number, conditions: readonly Condition[]): boolean =>
  linked.some((each) => covers(each, index) && conditions.some((condition) => includesCondition(condition, each.condition)))

/** "Paid or open" is one condition with two values. */
const includesCondition = (condition: Condition, part: Condition): boolean =>
  condition === part ||
  (condition.kind === 'equals' &&
    part.kind === 'equals' &&
    condition.column === part.column &&
    condition.isNegated === part.isNegated &&
    condition.values.length > part.values.length &&
    part.values.every((value) => condition.values.includes(value)))

/** "By" of "should be back by now" asks for no groups. */
export const isOfState = ({ conditions }: Links, index: number): boolean =>
  conditions.some((linked) => linked.isState && covers(linked, index))

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
export function isWholeHeader({ words, dates }: Question, { match, column }: ColumnLink, { columns }: TypedTable): boolean {
  const header = listHeaderStems(columns[column])
  // "Since" of "since May" does not name the column "Client since".
  const isSaid = (stem: string) => words.some((word, index) => word.stem === stem && !dates.some((date) => covers(date, index)))
  return match === 'part' && header.length > 1 && header.every(isSaid)
}

/** "Beginner" in the column Level does not mean the column Start, too. */
export const isPartOfValue = ({ start, end, match }: ColumnLink, { conditions }: Links): boolean =>
  match === 'synonym' && conditions.some((condition) => condition.match === 'exact' && condition.start <= start && condition.end >= end)
