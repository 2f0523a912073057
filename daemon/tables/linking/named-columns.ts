/** Finds the columns that a question names, and how: in full, in part, as what it asks for, or by what a superlative measures. */
import { isExpenseBesidePrice, isNumbering } from '../cells/column-roles.ts'
import { expandHeader } from '../cells/header-words.ts'
import { covers, type Question, splitWords, type Word } from '../parse-question.ts'
import type { Column, TypedTable } from '../typed-table.ts'
import { EXPENSE_STEMS, isSuperlative } from '../vocabulary.ts'
import { type ColumnLink, type Links, listTitleStems } from './links.ts'
import { listNouns } from './question-nouns.ts'

export function findNamedColumns({ words }: Question, table: TypedTable, links: Links) {
  const columnAt = (index: number) => table.columns[index] as Column
  const isNumeric = ({ column }: ColumnLink) => columnAt(column).readings.number !== undefined && columnAt(column).type !== 'boolean'
  // A word that names a column does not mean another one, too.
  const isExact = (index: number) => links.columns.some((link) => link.match === 'exact' && covers(link, index))
  const isNamed = (index: number) => links.columns.some((link) => link.match !== 'synonym' && isNumeric(link) && covers(link, index))
  const isOnlySynonym = ({ match, start }: ColumnLink) => match === 'synonym' && (isExact(start) || isNamed(start))
  const linked = new Set(links.columns.flatMap((link) => (isOnlySynonym(link) ? [] : [link.column])))
  const named = new Set(links.columns.filter(({ match }) => match !== 'synonym').map(({ column }) => column))
  const exact = new Set(links.columns.filter(({ match }) => match === 'exact').map(({ column }) => column))
  const nouns = listNouns(words, table.columns, links)
  const titleStems = listTitleStems(table)
  /** "Ticket" in tickets.csv numbers the rows. */
  const isRowNumber = (column: number): boolean =>
    columnAt(column).isReference === true ||
    isNumbering(columnAt(column)) ||
    (column === 0 &&
      columnAt(0).type === 'integer' &&
      splitWords(expandHeader(columnAt(0).header)).every(({ stem }) => titleStems.has(stem)))
  /** "Rental" in rentals.csv names the rows, not the column "Rental fee". */
  const isNamedMeasure = (link: ColumnLink) =>
    isNumeric(link) && !isRowNumber(link.column) && (link.match === 'exact' || (link.match === 'part' && !words[link.start]?.isTitle))
  /** "Heaviest" asks for the column Weight, but "the largest rent" not for the column Size. */
  const measured = new Set(
    links.columns
      .filter(({ start, match }) => match === 'synonym' && isSuperlative(words[start] as Word))
      .filter(({ start }) => !links.columns.some((link) => link.start === start + 1 && isNamedMeasure(link)))
      .map(({ column }) => column),
  )
  const exactHeaders = new Set(
    [...words.keys()].filter((index) =>
      links.columns.some((link) => link.match === 'exact' && link.end - link.start > 1 && covers(link, index)),
    ),
  )
  /** "The cheapest part" has the lowest sale price, unless the question asks for what is paid. */
  const isOnlyExpense = (column: number): boolean =>
    !named.has(column) && !words.some(({ stem }) => EXPENSE_STEMS.has(stem)) && isExpenseBesidePrice(columnAt(column), table)
  /** "Different guests" are those of the column Guest, not of the column Guests with numbers. */
  const isNumberBesideText = (column: number): boolean => {
    const isText = (other: number) => columnAt(other).type === 'text'
    const starts = links.columns.filter((link) => link.column === column).map(({ start }) => start)
    return !isText(column) && links.columns.some((link) => isText(link.column) && link.match !== 'synonym' && starts.includes(link.start))
  }
  const exactNumbers = [...exact].filter((column) => columnAt(column).readings.number !== undefined && !isRowNumber(column))
  return {
    linked,
    named,
    exact,
    exactNumbers,
    exactHeaders,
    nouns,
    measured,
    titleStems,
    isExact,
    isNumeric,
    isRowNumber,
    isOnlyExpense,
    isNumberBesideText,
  }
}
