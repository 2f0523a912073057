/** Finds conditions that a question does not mean, because its words name another column. */
import { isYear } from '../infer-columns.ts'
import type { Word } from '../parse-question.ts'
import type { Condition } from '../query.ts'
import type { TypedTable } from '../typed-table.ts'
import { isOperationWord } from '../vocabulary.ts'
import { isDateCondition, listMeantDates } from './date-choice.ts'
import { type LinkedCondition, type Links, RANKS } from './links.ts'

const COMPARED: ReadonlySet<Condition['kind']> = new Set(['dates', 'months', 'weekdays', 'numbers', 'between'])

/** "Opened in May" and "cost less than 200" compare the columns that the words before name. */
export function isOtherMeant(
  words: readonly Word[],
  { start, condition }: LinkedCondition,
  { columns }: TypedTable,
  links: Links,
): boolean {
  if (!COMPARED.has(condition.kind)) return false
  const reading = isDateCondition(condition) ? 'date' : 'number'
  const listNear = (at: number) =>
    links.columns.filter(
      ({ start: from, end, column }) =>
        end <= at &&
        words.slice(from, end).some(({ isStop, isTitle }) => !isStop || isTitle) &&
        (columns[column]?.readings[reading] !== undefined || isYear(columns[column])) &&
        columns[column]?.type !== 'boolean' &&
        words.slice(end, at).every(({ isStop, isTitle }) => isStop && !isTitle),
    )
  // "Quit in 2026" is about the date of the state.
  const state = links.conditions.find(
    (other) => other.condition.kind === 'empty' && other.end <= start && words.slice(other.end, start).every(({ isStop }) => isStop),
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

/** "How many visits were booked" does not name Northgate Books, and "bookings come from" not Booking.com. */
export function isOnlyVerb(words: readonly Word[], { start, end, match, condition }: LinkedCondition): boolean {
  if ((match !== 'exact' && match !== 'part') || condition.kind !== 'equals') return false
  const meant = words.slice(start, end)
  const written = meant.map(({ text }) => text.replace(/s$/, ''))
  const isWritten = condition.values.some((value) => {
    const cell = String(value).toLowerCase()
    return written.every((text) => new RegExp(`\\b${text}s?\\b`).test(cell))
  })
  return !isWritten && meant.every((word) => word.isTitle || isOperationWord(word))
}

/** "Opened" is the column Opened, not the status "Open". */
export const isColumnName = (
  words: readonly Word[],
  { start, end, match, condition }: LinkedCondition,
  { columns }: TypedTable,
  links: Links,
): boolean => {
  const text = words[start]?.text
  return (
    (match === 'exact' || match === 'part') &&
    end - start === 1 &&
    condition.kind === 'equals' &&
    !condition.values.some((value) => String(value).toLowerCase() === text) &&
    links.columns.some((link) => link.start === start && columns[link.column]?.header.toLowerCase() === text)
  )
}
