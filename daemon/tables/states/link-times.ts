/** Finds states that compare a date with the day of the question or with another date: "expired", "next", "late". */

import { listMeantDates } from '../linking/date-choice.ts'
import { findPatterns, type LinkedCondition } from '../linking/links.ts'
import type { Question, Span, Word } from '../parse-question.ts'
import type { Condition } from '../query.ts'
import { areSynonyms } from '../table-synonyms.ts'
import type { Column } from '../typed-table.ts'
import { toStems, toWords } from '../vocabulary.ts'
import { createNotCancelled, createState, hasDone, STATUS_STEMS, type StateTable } from './link-statuses.ts'
import {
  ACTUAL_STEMS,
  CREATED_STEMS,
  DUE_STEMS,
  FINISHED,
  HAPPENED,
  NEXT,
  PAID_STEMS,
  PAST_DATE_STEMS,
  PAST_DATES,
  PAST_STATES,
  PAYING_STEMS,
  PUNCTUALITY,
  UPCOMING,
} from './state-words.ts'

const PATTERNS = [...PAST_STATES.map(({ pattern }) => pattern), ...PAST_DATES.map(([pattern]) => pattern), HAPPENED, UPCOMING, NEXT]

export const namesTime = ({ words }: Question): boolean => PATTERNS.some((pattern) => findPatterns(words, pattern).length > 0)

/** Returns the words that ask for the first row from today on. */
export const listNext = ({ words }: Question): Span[] => findPatterns(words, NEXT)

interface Table extends StateTable {
  /** Whether the words are a value themselves, such as the status "expired". */
  isValue: (span: Span) => boolean
}

export function createTimeStates(question: Question, found: StateTable, named: readonly LinkedCondition[]): LinkedCondition[] {
  const isValue = ({ start, end }: Span) => named.some((value) => value.match === 'exact' && value.start <= start && value.end >= end)
  const table = { ...found, isValue }
  const { today } = question
  return [
    ...(today === undefined ? [] : [...createPastStates(question, table, today), ...createPastDates(question, table, today)]),
    ...(today === undefined ? [] : [...createEvents(question, table, today), ...createNotSince(question, table)]),
    ...createPunctuality(question, found),
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

/** "Past their inspection date" and "the deadline has passed"; what is past its due date is also not done yet. */
const createPastDates = ({ words, stems: asked }: Question, table: Table, today: string): LinkedCondition[] =>
  PAST_DATES.flatMap(([pattern, direction]) =>
    findPatterns(words, pattern).flatMap((span): LinkedCondition[] => {
      const named = listDates(table, PAST_DATE_STEMS).flatMap((column) =>
        extendOverName(words, span, table.stems[column] ?? [], direction, column),
      )
      const longest = Math.max(...named.map(({ length }) => length))
      const [found, second] = named.filter(({ length }) => length === longest)
      if (!found || second) return []
      const { column, start, end } = found
      const isDue = table.stems[column]?.some((stem) => DUE_STEMS.has(stem))
      const conditions: Condition[] = [{ kind: 'dates', column, to: today }, ...(isDue ? createOpenState(table, column, asked) : [])]
      return [{ start, end, match: 'boolean', isState: true, condition: { kind: 'all', column, conditions } }]
    }),
  )

const DATE_NOUNS = toWords('date dates day days left')

/** Adds the words beside a span that name a date, if there are any: "deadline" also names the column Due. */
function extendOverName(words: readonly Word[], span: Span, header: readonly string[], direction: 1 | -1, column = 0) {
  const isDue = header.some((stem) => DUE_STEMS.has(stem))
  const isName = (stem: string) => header.includes(stem) || (isDue && DUE_STEMS.has(stem))
  let at = direction === 1 ? span.end : span.start - 1
  let length = 0
  for (let word = words[at]; word && (isName(word.stem) || DATE_NOUNS.has(word.text)); word = words[at]) {
    if (isName(word.stem) && !GENERAL_STEMS.has(word.stem)) length++
    at += direction
  }
  if (length === 0) return []
  return [{ column, length, start: direction === 1 ? span.start : at + 1, end: direction === 1 ? at : span.end }]
}

/** "Next", "upcoming" and "have taken place": rows before or from the day of the question, without cancelled ones. */
function createEvents({ words }: Question, table: Table, today: string): LinkedCondition[] {
  const [first, second] = listEventDates(words, table)
  const column = first ?? second
  if (column === undefined) return []
  const notCancelled = createNotCancelled(table)
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
  const actual = selectActual(columns, due, stems, asked)
  const states = actual.flatMap((column) => createState(columns[column] as Column, column, true) ?? [])
  // "Paid" and "Paid on" say the same.
  const isOne = states.every(({ column }) => shareWord(stems[column], stems[states[0]?.column ?? due]))
  const state = states.find(({ kind }) => kind === 'equals') ?? states[0]
  const notCancelled = createNotCancelled(table)
  if (state && isOne) return [state, ...(notCancelled ? [notCancelled] : [])]
  const status = columns.findIndex((_, column) => stems[column]?.some((stem) => STATUS_STEMS.has(stem)))
  const finished = values.filter(({ column, text }) => column === status && FINISHED.has(text.toLowerCase())).map(({ text }) => text)
  return finished.length > 0 ? [{ kind: 'equals', column: status, reading: 'text', values: finished, isNegated: true }] : []
}

/** Words of headers that say nothing about what happened. */
const GENERAL_STEMS = toStems('date day time')
const shareWord = (first: readonly string[] = [], second: readonly string[] = []): boolean =>
  first.some((stem) => second.includes(stem) && !GENERAL_STEMS.has(stem))

/**
 * Returns the columns that say that something was done: those that the question names, that have a word of the due date
 * ("Return deadline", "Returned"), that are about payment, or others.
 */
function selectActual(columns: readonly Column[], due: number, stems: readonly string[][], asked: ReadonlySet<string>): number[] {
  const has = (column: number, wanted: ReadonlySet<string>) => stems[column]?.some((stem) => wanted.has(stem)) === true
  const others = [...columns.keys()].filter((column) => column !== due)
  const actual = others.filter((column) => has(column, ACTUAL_STEMS))
  // "Picked up" and "Fitted".
  const isDone = ({ header, readings }: Column) => readings.date !== undefined && /\w{3,}ed\b/i.test(header)
  const done = others.filter((column) => isDone(columns[column] as Column) && !has(column, CREATED_STEMS) && !has(column, DUE_STEMS))
  const words = [...asked].filter((stem) => !GENERAL_STEMS.has(stem) && !DUE_STEMS.has(stem))
  const isPaid = (column: number) => has(column, PAID_STEMS)
  const isNamed = (column: number) =>
    stems[column]?.some((stem) => words.some((word) => word === stem || areSynonyms(word, stem))) ||
    (isPaid(column) && words.some((word) => PAYING_STEMS.has(word)))
  // What is "due" is to be paid, what is "promised" to be done.
  const isMeant = (column: number) => isPaid(column) === (stems[due]?.includes('due') || stems[due]?.includes('deadlin'))
  const isRelated = (column: number) => shareWord(stems[column], stems[due])
  const choices = [actual.filter(isNamed), actual.filter(isRelated), actual.filter(isMeant), done.filter(isMeant), actual]
  return choices.find((chosen) => chosen.length > 0) ?? []
}

/** The date when something was to happen, and when it did, if the table has both. */
export function findDueDates(
  { stems: asked }: Question,
  columns: readonly Column[],
  stems: readonly string[][],
): [number, number] | undefined {
  const isDate = (column: number) => columns[column]?.readings.date !== undefined
  const due = columns.findIndex((_, column) => isDate(column) && stems[column]?.some((stem) => DUE_STEMS.has(stem)))
  if (due < 0) return undefined
  const [actual, second] = selectActual(columns, due, stems, asked).filter(isDate)
  return actual === undefined || second !== undefined ? undefined : [due, actual]
}

/** "Returned late" and "paid on time" compare a date with the one that was due. */
function createPunctuality(question: Question, { columns, stems }: StateTable): LinkedCondition[] {
  const [other, column] = findDueDates(question, columns, stems) ?? []
  if (other === undefined || column === undefined) return []
  return PUNCTUALITY.flatMap(([pattern, comparison, isNamed]) => {
    const condition: Condition = { kind: 'than_column', column, reading: 'date', comparison, other }
    const found = findPatterns(question.words, pattern)
    const spans = isNamed ? found.flatMap((span) => extendOverName(question.words, span, stems[other] ?? [], 1)) : found
    return spans.map(({ start, end }): LinkedCondition => ({ start, end, match: 'row', isState: true, condition }))
  })
}

/** "Not contacted since March": the last time was before it. */
const createNotSince = ({ words, dates }: Question, { columns, stems }: Table): LinkedCondition[] =>
  dates.flatMap(({ start: since, end, from, comparison }): LinkedCondition[] => {
    const start = words.findLastIndex(({ text }, index) => index < since && (text === 'not' || text === 'never'))
    const verbs = words.slice(start + 1, since).filter(({ isStop, text }) => !isStop && text !== 'since')
    const isSince = comparison === 'at_least' || (comparison === 'less' && words[since - 1]?.text === 'since')
    const [column, second] = [...columns.keys()].filter(
      (index) =>
        columns[index]?.readings.date &&
        stems[index]?.includes('last') &&
        verbs.every(({ stem }) => stems[index]?.some((other) => other === stem || areSynonyms(other, stem))),
    )
    if (start < 0 || !isSince || from === '' || verbs.length === 0 || column === undefined || second !== undefined) return []
    return [{ start, end, match: 'date', isState: true, condition: { kind: 'dates', column, to: from } }]
  })
