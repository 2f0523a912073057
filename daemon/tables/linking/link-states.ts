/** Finds the states that columns imply: "vacant" where there is no tenant, "unpaid" where there is no date of payment, "late". */
import { isSecondary } from '../cells/column-roles.ts'
import { findPhrase, type Question, splitWords } from '../parse-question.ts'
import type { Condition } from '../query.ts'
import type { CellValue, Column } from '../typed-table.ts'
import { STATUS_STEMS } from './link-statuses.ts'
import { type LinkedCondition, listHeaderStems } from './links.ts'
import { ACTUAL_STEMS, DUE_STEMS, FINISHED, LIMIT_STATES, PAST_STATES, PUNCTUALITY, STATES, type State } from './state-words.ts'

const BE: ReadonlySet<string> = new Set(['is', 'are', 'was', 'were', 'been'])

/** Whether a question has words for a state. Most have none. */
export const namesState = ({ words }: Question): boolean =>
  [...STATES, ...LIMIT_STATES, ...PAST_STATES].some(({ phrases }) => phrases.some((phrase) => findPhrase(words, phrase) >= 0))

/** `named` are conditions on values that the words name: these say what the state is called. */
export function createStateConditions(
  question: Question,
  columns: readonly Column[],
  named: readonly LinkedCondition[],
  values: readonly CellValue[],
): LinkedCondition[] {
  const { words } = question
  const isValue = (start: number) => named.some((value) => value.match === 'exact' && value.start === start)
  // "Last day" says more than its words.
  const stems = columns.map(({ header }) => [...listHeaderStems(header), header.toLowerCase().replaceAll(' ', '_')])
  const states = STATES.flatMap((state) =>
    state.phrases.flatMap((phrase): LinkedCondition[] => {
      const { headers, isMissing } = state
      const start = findPhrase(words, phrase)
      if (start < 0 || isValue(start)) return []
      const end = start + phrase.split(' ').length
      const found = columns.flatMap((column, index) => {
        // "Unpaid" says nothing about the column "Deposit paid".
        if (isSecondary(column) && !stems[index]?.some((stem) => question.stems.has(stem))) return []
        const condition = stems[index]?.some((stem) => headers.has(stem)) ? createState(column, index, isMissing) : undefined
        return condition ? [{ start, end, match: condition.kind === 'empty' ? ('empty' as const) : ('boolean' as const), condition }] : []
      })
      return found.length > 0
        ? found
        : createValueStates(state, columns, values).map((condition) => ({ start, end, match: 'boolean', condition }))
    }),
  )
  // "Unreturned" where the column is "Returned on".
  const opposites = words.flatMap(({ text }, start): LinkedCondition[] => {
    const stem = splitWords(/^un([a-z]{4,})$/.exec(text)?.[1] ?? '')[0]?.stem
    if (stem === undefined || isValue(start)) return []
    return columns.flatMap((column, index) =>
      stems[index]?.includes(stem) && column.type !== 'boolean' && column.hasEmptyCells
        ? [{ start, end: start + 1, match: 'empty' as const, condition: { kind: 'empty' as const, column: index } }]
        : [],
    )
  })
  // "Which costumes are borrowed?" where the column is "Borrowed by".
  const filled = words.flatMap(({ text }, start): LinkedCondition[] => {
    if (!BE.has(words[start - 1]?.text ?? '') || words[start + 1]?.text === 'by' || isValue(start)) return []
    return columns.flatMap(({ header, type, hasEmptyCells }, column) =>
      type === 'text' && hasEmptyCells && /^(\w+ed)[ _](?:by|to)$/i.exec(header)?.[1]?.toLowerCase() === text
        ? [{ start, end: start + 1, match: 'empty' as const, condition: { kind: 'empty' as const, column, isNegated: true as const } }]
        : [],
    )
  })
  return [
    ...states,
    ...opposites,
    ...filled,
    ...createLimitStates(question, columns, stems),
    ...createPastStates(question, columns, stems, isValue, values),
    ...createPunctuality(question, columns, stems),
  ]
}

/** "Owed" where the status is "open", and "paid" for other rows. */
const createValueStates = ({ values: names, opposites }: State, columns: readonly Column[], values: readonly CellValue[]): Condition[] =>
  columns.flatMap((_, column): Condition[] => {
    const own = values.filter((value) => value.column === column).map(({ text }) => text)
    const meant = own.filter((text) => names?.has(text.toLowerCase()))
    const isState = meant.length > 0 && own.some((text) => opposites?.has(text.toLowerCase()))
    return isState ? [{ kind: 'equals', column, reading: 'text', values: meant }] : []
  })

/** An empty cell, or "no". */
function createState({ type, hasEmptyCells }: Column, column: number, isMissing: boolean): Condition | undefined {
  if (type === 'boolean') return { kind: 'equals', column, reading: 'number', values: [isMissing ? 0 : 1] }
  if (!hasEmptyCells) return undefined
  return isMissing ? { kind: 'empty', column } : { kind: 'empty', column, isNegated: true }
}

/** "Sold out" and "running low" compare what there is with its limit. */
function createLimitStates({ words }: Question, columns: readonly Column[], stems: readonly string[][]): LinkedCondition[] {
  const listColumns = (wanted: ReadonlySet<string>) =>
    columns.flatMap(({ readings, type }, column) =>
      readings.number && type !== 'boolean' && stems[column]?.some((stem) => wanted.has(stem)) ? [column] : [],
    )
  return LIMIT_STATES.flatMap(({ phrases, comparison, limits, measures }) => {
    const [other, secondLimit] = listColumns(limits)
    const [column, secondMeasure] = listColumns(measures).filter((measure) => measure !== other)
    if (other === undefined || column === undefined || secondLimit !== undefined || secondMeasure !== undefined) return []
    const condition: Condition = { kind: 'than_column', column, reading: 'number', comparison, other }
    return phrases.flatMap((phrase): LinkedCondition[] => {
      const start = findPhrase(words, phrase)
      const end = start + phrase.split(' ').length
      // The column "Reorder?" says so.
      const isColumn = words
        .slice(Math.max(0, start), end)
        .some(({ stem }) => columns.some(({ type }, index) => type === 'boolean' && stems[index]?.includes(stem)))
      return start < 0 || isColumn ? [] : [{ start, end, match: 'row', condition }]
    })
  })
}

/** "Expired" and "overdue" compare a date with the day of the question. */
function createPastStates(
  { words, stems: asked, today }: Question,
  columns: readonly Column[],
  stems: readonly string[][],
  isValue: (start: number) => boolean,
  values: readonly CellValue[],
): LinkedCondition[] {
  if (today === undefined) return []
  return PAST_STATES.flatMap(({ phrases, headers, isOpen }) => {
    const dates = [...columns.keys()].filter(
      (column) => columns[column]?.readings.date && stems[column]?.some((stem) => headers.has(stem)) && !stems[column]?.includes('last'),
    )
    const named = dates.filter((column) => stems[column]?.some((stem) => asked.has(stem)))
    const [column, second] = named.length > 0 ? named : dates
    if (column === undefined || second !== undefined) return []
    const conditions: Condition[] = [
      { kind: 'dates', column, to: today },
      ...(isOpen ? createOpenState(columns, stems, column, values) : []),
    ]
    return phrases.flatMap((phrase): LinkedCondition[] => {
      const start = findPhrase(words, phrase)
      if (start < 0 || isValue(start)) return []
      return [{ start, end: start + phrase.split(' ').length, match: 'boolean', condition: { kind: 'all', column, conditions } }]
    })
  })
}

/** What is not done has no date of it, or a "no", or another status. */
function createOpenState(columns: readonly Column[], stems: readonly string[][], due: number, values: readonly CellValue[]): Condition[] {
  const actual = [...columns.keys()].filter((column) => column !== due && stems[column]?.some((stem) => ACTUAL_STEMS.has(stem)))
  const states = actual.flatMap((column) => createState(columns[column] as Column, column, true) ?? [])
  const status = columns.findIndex((_, column) => stems[column]?.some((stem) => STATUS_STEMS.has(stem)))
  const finished = values.filter(({ column, text }) => column === status && FINISHED.has(text.toLowerCase())).map(({ text }) => text)
  if (states.length === 1) return states
  return finished.length > 0 ? [{ kind: 'equals', column: status, reading: 'text', values: finished, isNegated: true }] : []
}

/** "Returned late" and "paid on time" compare a date with the one that was due. */
function createPunctuality({ words, stems: asked }: Question, columns: readonly Column[], stems: readonly string[][]): LinkedCondition[] {
  const has = (column: number, wanted: ReadonlySet<string>) =>
    columns[column]?.readings.date !== undefined && stems[column]?.some((stem) => wanted.has(stem)) === true
  const indexes = [...columns.keys()]
  const due = indexes.find((column) => has(column, DUE_STEMS))
  const actual = indexes.filter((column) => column !== due && has(column, ACTUAL_STEMS))
  const named = actual.filter((column) => has(column, asked))
  const [column] = named.length > 0 ? named : actual
  if (due === undefined || column === undefined || (named.length === 0 && actual.length > 1)) return []
  return PUNCTUALITY.flatMap(([phrase, comparison]): LinkedCondition[] => {
    const start = findPhrase(words, phrase)
    const condition: Condition = { kind: 'than_column', column, reading: 'date', comparison, other: due }
    return start < 0 ? [] : [{ start, end: start + phrase.split(' ').length, match: 'row', condition }]
  })
}
