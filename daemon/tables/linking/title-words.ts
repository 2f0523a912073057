/** Finds words that name a table: "orders" in a question over orders.csv are its rows. */
import { countsPeople } from '../cells/column-roles.ts'
import type { Question, Word } from '../parse-question.ts'
import { areSynonyms } from '../table-synonyms.ts'
import { type CellValue, isDataFile, type TypedTable } from '../typed-table.ts'
import { MONEY_STEMS } from '../vocabulary.ts'
import { type ColumnLink, type LinkedCondition, listTitleStems } from './links.ts'
import { hasPeople } from './question-nouns.ts'
import { areSameRows, PEOPLE_WORDS } from './role-words.ts'

/** After what a word shares with the name of what someone does. */
const AGENT = /(?<=^.{5,}).(?:[eo]r|ant)s?$/

export interface ReadableTable {
  table: TypedTable
  /** Values that the question may name. */
  values: readonly CellValue[]
}

/** Whether the question names the table. "Cost" may mean expenses.csv, but also a column of another table. */
export const hasTitleWord = ({ words }: Question, table: TypedTable): boolean => {
  const stems = listTitleStems(table)
  return words.some(({ stem, isStop }) => !isStop && stems.has(stem))
}

/** "Orders" in a question over orders.csv names the rows: no condition needs to explain it. */
export function ignoreTitle(
  question: Question,
  table: TypedTable,
  values: readonly CellValue[] = [],
  tables: readonly ReadableTable[] = [],
): Question {
  const stems = listTitleStems(table)
  // "Vans" are some of the cars if there is a class Van.
  const isValue = (stem: string) =>
    question.today !== undefined && values.some((value) => value.stems.length === 1 && value.stems[0] === stem)
  // "Persons" are those of the column that counts them.
  const isCountedElsewhere = (text: string) =>
    tables.some((other) => other.table.columns.some((column) => countsPeople(column) && column.header.toLowerCase().includes(text)))
  const isTitle = ({ text, stem, number }: Word) =>
    number === undefined &&
    (stems.has(stem) ||
      // The subscribers of subscriptions.
      (AGENT.test(text) && [...stems].some((title) => title.startsWith(text.replace(AGENT, '')))) ||
      (!isValue(stem) && [...stems].some((title) => areSynonyms(title, stem) || areSameRows(title, stem))) ||
      (PEOPLE_WORDS.has(text) && hasPeople(table.columns) && !table.columns.some(countsPeople) && !isCountedElsewhere(text)))
  return { ...question, words: question.words.map((word) => (isTitle(word) ? { ...word, isStop: true, isTitle: true } : word)) }
}

/** "Costumes" means costumes.xlsx, not a purpose of donations, unless the question names the donations. */
export function createTitleCheck(
  parsed: Question,
  table: TypedTable,
  tables: readonly ReadableTable[],
): (linked: LinkedCondition | ColumnLink) => boolean {
  if (hasTitleWord(parsed, table)) return () => false
  const others = tables.filter((other) => other.table !== table && isDataFile(other.table))
  const stems = new Set(others.flatMap((other) => [...listTitleStems(other.table)]))
  return (linked) => {
    const isMatch = linked.match === 'part' || (linked.match === 'exact' && 'condition' in linked)
    return (
      isMatch &&
      linked.end - linked.start === 1 &&
      stems.has(parsed.words[linked.start]?.stem ?? '') &&
      !MONEY_STEMS.has(parsed.words[linked.start]?.stem ?? '')
    )
  }
}
