/** Finds states that compare a date with the day of the question or with another date: "expired", "next", "late". */

import { listMeantDates } from '../linking/date-choice.ts'
import { findPatterns, type LinkedCondition } from '../linking/links.ts'
import type { Question, Span, Word } from '../parse-question.ts'
import type { Condition } from '../query.ts'
import type { CellValue, Column } from '../typed-table.ts'
import { createNotCancelled, createState, hasDone, STATUS_STEMS } from './link-statuses.ts'
import {
  ACTUAL_STEMS,
  CREATED_STEMS,
  DUE_STEMS,
  FINISHED,
  HAPPENED,
  NEXT,
  PAST_DATE_STEMS,
  PAST_DATES,
  PAST_STATES,
  PUNCTUALITY,
  UPCOMING,
} from './state-words.ts'

const PATTERNS = [...PAST_STATES.map(({ pattern }) => pattern), PAST_DATES, HAPPENED, UPCOMING, NEXT]

export const namesTime = ({ words }: Question): boolean => PATTERNS.some((pattern) => findPatterns(words, pattern).length > 0)

/** Returns the words that ask for the first row from today on. */
export const listNext = ({ words }: Question): Span[] => findPatterns(words, NEXT)

/** What finds the states of a table. */
interface Table {
  columns: readonly Column[]
  /** The stems of the headers. */
  stems: readonly string[][]
  values: readonly CellValue[]
  /** Whether the words are a value themselves, such as the status "expired". */
  isValue: (span: Span) => boolean
}

export function createTimeStates(
  question: Question,
  columns: readonly Column[],
  stems: readonly string[][],
  named: readonly LinkedCondition[],
  values: readonly CellValue[],
): LinkedCondition[] {
  const isValue = ({ start, end }: Span) => named.some((value) => value.match === 'exact' && value.start <= start && value.end >= end)
  const table = { columns, stems, values, isValue }
  const { today } = question
  return [
    ...(today === undefined ? [] : [...createPastStates(question, table, today), ...createPastDates(question, table, today)]),
    ...(today === undefined ? [] : createEvents(question, table, today)),
    ...createPunctuality(question, columns, stems),
  ]
}

/** "Expired" and "overdue" compare a date with the day of the question. */
function createPastStates({ words, stems: asked }: Question, table: Table, today: string): LinkedCondition[] {
  const { stems, isValue } = table
  return PAST_STATES.flatMap(({ pattern, headers, isOpen }) => {
    const dates = listDates(table, headers)
    const named = dates.filter((column) => stems[column]?.some((stem) => asked.has(stem)))
    const [column, second] = named.length > 0 ? named : dates
    if (column === undefined || second !== undefined) return []
    const conditions: Condition[] = [{ kind: 'dates', column, to: today }, ...(isOpen ? createOpenState(table, column, asked) : [])]
    return findPatterns(words, pattern)
      .filter((span) => !isValue(span))
      .map((span) => ({
        ...extendToName(words, span, stems[column] ?? []),
        match: 'boolean',
        isState: true,
        condition: { kind: 'all', column, conditions },
      }))
  })
}

const listDates = ({ columns, stems }: Table, headers: ReadonlySet<string>): number[] =>
  [...columns.keys()].filter(
    (column) => columns[column]?.readings.date && stems[column]?.some((stem) => headers.has(stem)) && !stems[column]?.includes('last'),
  )

/** "Driving licence has expired": the words before the verb name the date. */
function extendToName(words: readonly Word[], { start, end }: Span, header: readonly string[]): Span {
  if (!header.includes(words[start - 1]?.stem ?? '')) return { start, end }
  const isModifier = words[start - 2] !== undefined && !words[start - 2]?.isStop && words[start - 2]?.text.endsWith('ing') === true
  return { start: isModifier ? start - 2 : start - 1, end }
}

/** "Past their inspection date" and "no warranty left". */
const createPastDates = ({ words }: Question, table: Table, today: string): LinkedCondition[] =>
  findPatterns(words, PAST_DATES).flatMap((span): LinkedCondition[] => {
    const meant = words.slice(span.start, span.end).filter(({ isStop }) => !isStop)
    const [column, second] = listDates(table, PAST_DATE_STEMS).filter((index) =>
      table.stems[index]?.some((stem) => meant.some((word) => word.stem === stem)),
    )
    if (column === undefined || second !== undefined) return []
    const conditions: Condition[] = [{ kind: 'dates', column, to: today }]
    return [{ ...span, match: 'boolean', isState: true, condition: { kind: 'all', column, conditions } }]
  })

/** "Next", "upcoming" and "have taken place": rows before or from the day of the question, without cancelled ones. */
function createEvents({ words }: Question, table: Table, today: string): LinkedCondition[] {
  const [first, second] = listEventDates(words, table)
  const column = first ?? second
  if (column === undefined) return []
  const notCancelled = createNotCancelled(table.columns, table.stems, table.values)
  const create = (pattern: RegExp, date: Condition): LinkedCondition[] => {
    const conditions = [date, ...(notCancelled ? [notCancelled] : [])]
    return findPatterns(words, pattern)
      .filter((span) => !table.isValue(span))
      .map((span) => ({ ...span, match: 'date', isState: true, condition: { kind: 'all', column, conditions } }))
  }
  const future: Condition = { kind: 'dates', column, from: today }
  const past = hasDone(table.columns, table.values) ? [] : create(HAPPENED, { kind: 'dates', column, to: today })
  return [...create(UPCOMING, future), ...create(NEXT, future), ...past]
}

/** When something happens, not when it was booked. */
function listEventDates(words: readonly Word[], { columns, stems }: Table): number[] {
  const meant = listMeantDates(words, columns, []).columns
  const events = meant.filter((column) => !stems[column]?.some((stem) => CREATED_STEMS.has(stem)))
  return events.length > 0 ? events : meant
}

/** What is not done has no date of it, or a "no", or another status. */
function createOpenState(table: Table, due: number, asked: ReadonlySet<string>): Condition[] {
  const { columns, stems, values } = table
  const actual = [...columns.keys()].filter((column) => column !== due && stems[column]?.some((stem) => ACTUAL_STEMS.has(stem)))
  const named = actual.filter((column) => stems[column]?.some((stem) => asked.has(stem)))
  const states = (named.length > 0 ? named : actual).flatMap((column) => createState(columns[column] as Column, column, true) ?? [])
  const notCancelled = createNotCancelled(columns, stems, values)
  if (states.length === 1) return [...states, ...(notCancelled ? [notCancelled] : [])]
  const status = columns.findIndex((_, column) => stems[column]?.some((stem) => STATUS_STEMS.has(stem)))
  const finished = values.filter(({ column, text }) => column === status && FINISHED.has(text.toLowerCase())).map(({ text }) => text)
  return finished.length > 0 ? [{ kind: 'equals', column: status, reading: 'text', values: finished, isNegated: true }] : []
}

/** The date when something was to happen, and when it did, if the table has both. */
export function findDueDates(
  { stems: asked }: Question,
  columns: readonly Column[],
  stems: readonly string[][],
): [number, number] | undefined {
  const has = (column: number, isWanted: (stem: string) => boolean) =>
    columns[column]?.readings.date !== undefined && stems[column]?.some(isWanted) === true
  const indexes = [...columns.keys()]
  const due = indexes.find((column) => has(column, (stem) => DUE_STEMS.has(stem)))
  const actual = indexes.filter((column) => column !== due && has(column, (stem) => ACTUAL_STEMS.has(stem)))
  const named = actual.filter((column) => has(column, (stem) => asked.has(stem) || (stem === 'paid' && asked.has('pay'))))
  const [column] = named.length > 0 ? named : actual
  return due === undefined || column === undefined || (named.length === 0 && actual.length > 1) ? undefined : [due, column]
}

/** "Returned late" and "paid on time" compare a date with the one that was due. */
function createPunctuality(question: Question, columns: readonly Column[], stems: readonly string[][]): LinkedCondition[] {
  const [other, column] = findDueDates(question, columns, stems) ?? []
  if (other === undefined || column === undefined) return []
  return PUNCTUALITY.flatMap(([pattern, comparison]) => {
    const condition: Condition = { kind: 'than_column', column, reading: 'date', comparison, other }
    return findPatterns(question.words, pattern).map((span): LinkedCondition => ({ ...span, match: 'row', condition }))
  })
}
