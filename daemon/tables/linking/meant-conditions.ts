/** Finds conditions and columns that a question does not mean, because its words name others. */
import { stem } from '../../language/content-words.ts'
import { identifiesRows, isYear } from '../cells/column-roles.ts'
import { expandHeader } from '../cells/header-words.ts'
import { type Question, splitWords, type Word } from '../parse-question.ts'
import type { Condition } from '../query.ts'
import type { TypedTable } from '../typed-table.ts'
import { COLUMN_WORDS, isOperationWord, toStems, toWords } from '../vocabulary.ts'
import { isDateCondition, listMeantDates } from './date-choice.ts'
import { type ColumnLink, findPatterns, type LinkedCondition, type Links, listHeaderStems, RANKS } from './links.ts'

/** Letters and digits that are joined: "A4-07". */
const CODE = /(?<![\p{L}\p{N}])\p{L}+\d*-\d+(?:-\d+)*(?![\p{L}\p{N}])/gu
const HABITS = toWords('do does')
const PRONOUNS = toWords('we i they you')
const COMPARED: ReadonlySet<Condition['kind']> = new Set(['dates', 'months', 'weekdays', 'numbers', 'between'])

/** "Opened in May" and "cost less than 200" compare the columns that the words before name. */
export function isOtherMeant(
  words: readonly Word[],
  { start, condition, isState }: LinkedCondition,
  { columns }: TypedTable,
  links: Links,
): boolean {
  if (!COMPARED.has(condition.kind) || isState) return false
  const reading = isDateCondition(condition) ? 'date' : 'number'
  const listNear = (at: number) =>
    links.columns.filter(
      ({ start: from, end, column, match }) =>
        end <= at &&
        words.slice(from, end).some(({ text, isStop, isTitle }) => !isStop || isTitle || (match !== 'synonym' && COLUMN_WORDS.has(text))) &&
        (columns[column]?.readings[reading] !== undefined || isYear(columns[column])) &&
        columns[column]?.type !== 'boolean' &&
        // "Orders above 200" does not compare their numbers.
        !(words[from]?.isTitle && reading === 'number' && (column === 0 || identifiesRows(columns[column]))) &&
        words.slice(end, at).every(({ isStop, isTitle }) => isStop && !isTitle),
    )
  // "Quit in 2026" is about the date of the state; what is unpaid has no date of payment.
  const state = links.conditions.find(
    (other) => isFilled(other.condition) && other.end <= start && words.slice(other.end, start).every(({ isStop }) => isStop),
  )
  if (state && columns[state.condition.column]?.readings[reading] !== undefined) return condition.column !== state.condition.column
  const near = listNear(start)
  const best = Math.max(...near.map(({ match }) => RANKS[match]))
  if (near.length > 0) return !near.some(({ column, match }) => column === condition.column && RANKS[match] === best)
  if (!isDateCondition(condition)) return false
  const others = links.conditions.filter((other) => other.start !== start && isDateCondition(other.condition))
  const meant = listMeantDates(
    words,
    columns,
    links.columns,
    others.flatMap((other) => listNear(other.start)),
  )
  return !meant.columns.includes(condition.column)
}

const isFilled = (condition: Condition): boolean => condition.kind === 'empty' && condition.isNegated === true

/** Words of the headers of columns that are measured in a unit of time. */
const TIME_UNITS: ReadonlyMap<string, RegExp> = new Map([
  ['year', /\byears?\b|\bage\b|experience|tenure|seniority/i],
  ['month', /\bmonths?\b|duration|\bterm\b|length/i],
  ['week', /\bweeks?\b|duration|length/i],
  ['day', /\bdays?\b|duration|length|nights/i],
  ['hour', /\bhours?\b|\bhrs?\b|\(h\)|duration|time/i],
  ['minute', /\bmin(?:ute)?s?\b|duration|time|length/i],
])
const BE = toWords('are is aged was were')

/** "Older than five years" compares no weight, and "members under 25" no fee where there is an age. */
export function isOtherMeasure(words: readonly Word[], { start, end, condition }: LinkedCondition, { columns }: TypedTable): boolean {
  if (condition.kind !== 'numbers' && condition.kind !== 'between') return false
  const { header = '' } = columns[condition.column] ?? {}
  const unit = TIME_UNITS.get(words[end]?.text.replace(/s$/, '') ?? '')
  if (unit) return !unit.test(header.replaceAll('_', ' '))
  const isAge = (name: string) => /\bage\b/i.test(name)
  return BE.has(words[start - 1]?.text ?? '') && columns.some((column) => isAge(column.header)) && !isAge(header)
}

/** "How many visits were booked" does not name Northgate Books, and "bookings come from" not Booking.com. */
export function isOnlyVerb(words: readonly Word[], { start, end, match, isState, condition }: LinkedCondition): boolean {
  if (isState || (match !== 'exact' && match !== 'part') || condition.kind !== 'equals') return false
  const meant = words.slice(start, end)
  const written = meant.map(({ text }) => text.replace(/s$/, ''))
  const isWritten = condition.values.some((value) => {
    const cell = String(value).toLowerCase()
    return written.every((text) => new RegExp(`\\b${text}s?\\b`).test(cell))
  })
  // "The product that we print most often" need not be printing now.
  const isHabit = HABITS.has(words[start - 2]?.text ?? '') && PRONOUNS.has(words[start - 1]?.text ?? '')
  return !isWritten && (isHabit || meant.every((word) => word.isTitle || isOperationWord(word)))
}

/** "A4" of "flat A4-07" does not name the flats A4-01 and A4-02. */
export function isPartOfCode({ text, words }: Question, { start, end, match, condition }: LinkedCondition): boolean {
  if (match !== 'part' || condition.kind === 'dates') return false
  const codes = Array.from(text.matchAll(CODE), ([code]) => splitWords(code).map((word) => word.text))
  const isIn = (code: readonly string[]) =>
    code.length > end - start &&
    words.some((_, at) => at <= start && at + code.length >= end && code.every((part, offset) => words[at + offset]?.text === part))
  return codes.some(isIn)
}

/** "Opened" is the column Opened, not the status "Open", "bikes" are all rows with a "Bike type", and a phone number is no phone. */
export const isColumnName = (
  words: readonly Word[],
  { start, end, match, condition }: LinkedCondition,
  { columns }: TypedTable,
  links: Links,
): boolean => {
  if ((match !== 'exact' && match !== 'part') || end - start !== 1) return false
  const text = words[start]?.text
  if (words[end]?.text === 'number' && words[end + 1]?.text !== 'of') return true
  const named = links.columns.filter((link) => link.start === start)
  const isName = ({ column, match: how }: ColumnLink) => how === 'exact' || (how === 'part' && column === condition.column)
  if (match === 'part' && named.some(isName)) return true
  // "Opened in 2025" is about a date, also where "Open" is a status.
  const isDated = links.conditions.some(
    (other) => isDateCondition(other.condition) && other.start >= end && words.slice(end, other.start).every(({ isStop }) => isStop),
  )
  if (isDated && text?.endsWith('ed') && named.some(({ column }) => columns[column]?.readings.date)) return true
  return (
    condition.kind === 'equals' &&
    !condition.values.some((value) => String(value).toLowerCase() === text) &&
    named.some((link) => columns[link.column]?.header.toLowerCase() === text)
  )
}

/** "How many times" counts rows, also where a column is "Time". */
export const isTimes = (words: readonly Word[], index: number): boolean =>
  words[index]?.text === 'times' && words[index - 1]?.text === 'many'

const NEUTRAL_STEMS = toStems('hour minute work total actual time duration week month day')

/** "How many hours did Ann work" does not ask for "Hours until reply". */
export function isOtherTime({ words, stems }: Question, { start, column }: ColumnLink, { columns }: TypedTable): boolean {
  const isTime = /^(?:hours?|hrs|minutes?|mins)$/.test(words[start]?.text ?? '') && words[start - 1]?.text === 'many'
  const particular = listHeaderStems(columns[column]).filter((stem) => !NEUTRAL_STEMS.has(stem) && stem.length > 1)
  return isTime && stems.has('work') && particular.length > 0 && !particular.some((stem) => stems.has(stem))
}

/** "The most children" are not those of the column "Max. children". */
export const isOtherLimit = ({ stems }: Question, { match, column }: ColumnLink, { columns }: TypedTable): boolean => {
  const [limit] = /^(?:minimum|maximum)/i.exec(expandHeader(columns[column]?.header ?? '')) ?? []
  return (
    match === 'part' && limit !== undefined && ![limit.toLowerCase(), limit.slice(0, 3).toLowerCase()].some((word) => stems.has(stem(word)))
  )
}

/** "When did we ship it?" asks for the column "Shipped on", not for "Ship by". */
export const isOtherDeadline = (
  words: readonly Word[],
  { start, end, column }: ColumnLink,
  { columns }: TypedTable,
  links: Links,
): boolean => {
  const isDeadline = (index: number) => columns[index]?.readings.date !== undefined && /[ _]by$/i.test(columns[index]?.header ?? '')
  const isActual = (index: number) => columns[index]?.readings.date !== undefined && !isDeadline(index)
  // "When do we have to ship it?" and "the ship-by date" are about the deadline.
  const isToBe = findPatterns(words, /\b(?:have|has|need|needs|is|are) to\b|\bmust\b|\bshould\b/g).length > 0 || end > start + 1
  return (
    isDeadline(column) &&
    !isToBe &&
    words[end]?.text !== 'by' &&
    links.columns.some((link) => link.start === start && isActual(link.column))
  )
}
