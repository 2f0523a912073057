/** Finds statuses that a table calls otherwise, "called off" where the status is "cancelled", and conditions on states. */

import { findPatterns, hasHeaderStem, type LinkedCondition } from '../linking/links.ts'
import type { Question } from '../parse-question.ts'
import type { Condition } from '../query.ts'
import type { CellValue, Column } from '../typed-table.ts'
import { toStems } from '../vocabulary.ts'
import { createVerbConditions } from './link-verbs.ts'
import { LOST } from './state-words.ts'

export const STATUS_STEMS = toStems('status state stage progress outcome result')
/** A column has statuses if it has two of them, whatever it is called. */
const MIN_KNOWN_STATUSES = 2

/** "The current price" is said of things that have no status. */
const MEASURE = '(?:price|value|balance|stock|salary|rate|rent|status|fee|cost|level|mileage)'

const TOOK_PLACE = 'done,completed,complete,finished,held,played,worked,attended,took place'

/** What a status is called in tables, and what people say for it, where it is none of these names. */
const STATUSES = [
  ['done,completed,complete,finished,closed,resolved,fulfilled', 'completed?|done|finish(?:ed)?|closed|resolved|fulfilled'],
  [TOOK_PLACE, '(?:really |actually )?(?:(?:took|taken|take) place|happened)|(?:really|actually) (?:do|did|had|have|worked?)|went ahead'],
  ['delivered,completed,done,passed,won,successful,success', 'successful(?:ly)?|succeeded|went (?:well|through)'],
  ['failed,unsuccessful,returned,not delivered,undelivered,lost', 'unsuccessful(?:ly)?|went wrong'],
  ['repaired,fixed,mended,resolved,solved', 'fixed|repaired|mended|put right|sorted out'],
  ['cancelled,canceled,annulled,called off', 'cancel(?:l?ed|lations?)|annulled|called off|fell through'],
  [
    'no-show,no show,did not attend,absent,did not come',
    'no shows?|(?:did |has |have )?(?:simply |just )?not (?:bother |even )?(?:show|shown|turn|turned|turning) up|not (?:come|appear)',
  ],
  ['in progress,active,running,ongoing,under way,current', `running|current(?! ${MEASURE})|under ?way|in progress|ongoing|going on`],
  ['available,free', 'free|available'],
  ['shipped,in transit,on the way,dispatched,sent', '(?:already )?on (?:the|its|their) way|in transit|under ?way'],
  [
    'processing,ordered,packed,in preparation,to ship,to send',
    'not (?:yet )?(?:been |gone )?(?:sent|shipped|dispatched|out)(?: out| off)?|(?:have|has|need|needs) to (?:send|ship|go)(?: out| off)?',
  ],
  ['in repair,repair,workshop,in workshop,under repair', '(?:in|at|sitting in) (?:the |for )?(?:repairs?|workshop|garage)'],
  ['paid,settled,cleared', 'paid|settled|cleared'],
  ['past due,overdue,in arrears', 'behind with (?:the|their|its) (?:payments?|rent|fees?)|in arrears'],
  ['trial,trialing,on trial,free trial', '(?:just )?(?:trying|testing) us(?: out)?|on trial'],
  ['waived,exempt,exempted', 'let off(?: paying)?|not have to pay'],
  ['left,gone,former,resigned', 'gone|walked out|no longer (?:with us|here)'],
  ['cancelled,churned,lost,left', LOST],
  ['scheduled,planned,booked,upcoming', 'scheduled|planned|booked|upcoming'],
  ['declined,rejected,refused', 'declined|rejected|refused|turned down'],
  ['accepted,approved,confirmed', 'accepted|approved|confirmed'],
  ['collected,fetched', 'collected|fetched|picked up'],
].map(([names = '', phrases = '']) => ({ names: new Set(names.split(',')), pattern: new RegExp(String.raw`\b(?:${phrases})\b`, 'g') }))
const KNOWN = new Set(STATUSES.flatMap(({ names }) => [...names]))

/** "Booked in May" may be about a date. */
const PARTICIPLE = /(?:(?<!happen)ed|paid|done|sent|complete)$/

/** "No-show" and "past_due" are written in several ways. */
const normalize = (text: string): string => text.toLowerCase().replaceAll(/[-_]/g, ' ')

/** Returns the values of the columns with statuses. */
export function listStatuses(columns: readonly Column[], values: readonly CellValue[]): CellValue[] {
  const isStatus = columns.map((column, index) => {
    const own = values.filter((value) => value.column === index && KNOWN.has(normalize(value.text)))
    return column.type === 'text' && (own.length >= MIN_KNOWN_STATUSES || hasHeaderStem(column, STATUS_STEMS))
  })
  return values.filter(({ column }) => isStatus[column])
}

/** Whether a status says that something took place. */
export const hasDone = (columns: readonly Column[], values: readonly CellValue[]): boolean =>
  listStatuses(columns, values).some(({ text }) => TOOK_PLACE.split(',').includes(normalize(text)))

/** Whether a question has words for a status. */
export const namesStatus = ({ words }: Question): boolean => STATUSES.some(({ pattern }) => findPatterns(words, pattern).length > 0)

/** `named` are conditions on values that the words name. */
export function createStatusConditions(
  question: Question,
  columns: readonly Column[],
  named: readonly LinkedCondition[],
  values: readonly CellValue[],
): LinkedCondition[] {
  const verbs = question.today === undefined ? [] : createVerbConditions(question, columns, values)
  return [...verbs, ...createPhraseConditions(question, columns, named, values)]
}

function createPhraseConditions(
  { words }: Question,
  columns: readonly Column[],
  named: readonly LinkedCondition[],
  values: readonly CellValue[],
): LinkedCondition[] {
  const statuses = listStatuses(columns, values)
  if (statuses.length === 0) return []
  const isOfStatus = ({ condition }: LinkedCondition) => statuses.some(({ column }) => column === condition.column)
  const isValue = (start: number, end: number) =>
    named.some(
      (value) => value.match === 'exact' && (value.start === start || (value.start < end && start < value.end && isOfStatus(value))),
    )
  return STATUSES.flatMap(({ names, pattern }) => {
    const meant = statuses.filter(({ text }) => names.has(text.toLowerCase()) || names.has(normalize(text)))
    if (meant.length === 0) return []
    const found = findPatterns(words, pattern).filter(({ start, end }) => !isValue(start, end))
    return found.flatMap(({ start, end }) =>
      [...new Set(meant.map(({ column }) => column))].map((column): LinkedCondition => {
        const texts = meant.filter((value) => value.column === column).map(({ text }) => text)
        const isSaid = end - start > 1 || !PARTICIPLE.test(words[start]?.text ?? '')
        const condition = { kind: 'equals' as const, column, reading: 'text' as const, values: texts }
        return { start, end, match: 'exact', ...(isSaid ? { isState: true } : {}), condition }
      }),
    )
  })
}

/** What finds the states of a table. */
export interface StateTable {
  columns: readonly Column[]
  /** The stems of the headers. */
  stems: readonly string[][]
  values: readonly CellValue[]
}

const CANCELLED = /^(?:cancel|called off|annulled)/i

/** Rows that are not cancelled, if a status says so. */
export function createNotCancelled({ columns, stems, values }: StateTable): Condition | undefined {
  const column = columns.findIndex((_, index) => stems[index]?.some((stem) => STATUS_STEMS.has(stem)))
  const cancelled = values.filter((value) => value.column === column && CANCELLED.test(value.text)).map(({ text }) => text)
  return cancelled.length > 0 ? { kind: 'equals', column, reading: 'text', values: cancelled, isNegated: true } : undefined
}

/** An empty cell, or "no". */
export function createState({ type, hasEmptyCells }: Column, column: number, isMissing: boolean): Condition | undefined {
  if (type === 'boolean') return { kind: 'equals', column, reading: 'number', values: [isMissing ? 0 : 1] }
  if (!hasEmptyCells) return undefined
  return isMissing ? { kind: 'empty', column } : { kind: 'empty', column, isNegated: true }
}
