/** Finds the states that columns imply: "vacant" where there is no tenant, "unpaid" where there is no date of payment. */
import { isMoney, isSecondary } from '../cells/column-roles.ts'
import { findPatterns, type LinkedCondition, listHeaderStems } from '../linking/links.ts'
import { covers, type Question, type Span, splitWords } from '../parse-question.ts'
import type { Condition } from '../query.ts'
import type { CellValue, Column } from '../typed-table.ts'
import { createNotCancelled, createState } from './link-statuses.ts'
import { createTimeStates, namesTime } from './link-times.ts'
import { DEBT_HEADERS, IN_DEBT, LIMIT_STATES, STATES, type State } from './state-words.ts'

const BE: ReadonlySet<string> = new Set(['is', 'are', 'was', 'were', 'been'])
const PERFECT: ReadonlySet<string> = new Set(['have', 'has', 'had', 'already'])

/** Whether a question has words for a state. Most have none. */
export const namesState = (question: Question): boolean =>
  [...STATES.map(({ pattern }) => pattern), ...LIMIT_STATES.map(({ pattern }) => pattern), IN_DEBT].some(
    (pattern) => findPatterns(question.words, pattern).length > 0,
  ) || namesTime(question)

/** `named` are conditions on values that the words name: these say what the state is called. */
export function createStateConditions(
  question: Question,
  columns: readonly Column[],
  named: readonly LinkedCondition[],
  values: readonly CellValue[],
): LinkedCondition[] {
  const { words } = question
  const isOverlapped = ({ start, end }: Span) => named.some((value) => value.match === 'exact' && value.start < end && start < value.end)
  // "Last day" says more than its words.
  const stems = columns.map((column) => [...listHeaderStems(column), column.header.toLowerCase().replaceAll(' ', '_')])
  const table = { columns, stems, values }
  const cancelled = question.stems.has('cancel') ? undefined : createNotCancelled(table)
  const isStill = words.some(({ text }) => text === 'still' || text === 'yet')
  const states = STATES.flatMap((state) =>
    findPatterns(words, state.pattern).flatMap((span): LinkedCondition[] => {
      const { headers, isMissing } = state
      if (isOverlapped(span)) return []
      const found = columns.flatMap((column, index): LinkedCondition[] => {
        // "Unpaid" says nothing about the column "Deposit paid".
        if (isSecondary(column) && !stems[index]?.some((stem) => question.stems.has(stem))) return []
        const condition = stems[index]?.some((stem) => headers.has(stem)) ? createState(column, index, isMissing) : undefined
        if (!condition) return []
        const match = condition.kind === 'empty' ? 'empty' : 'boolean'
        // What is cancelled is not owed or still to be sent, but not paid either.
        const isLiteral = words.slice(span.start, span.end).some((word) => stems[index]?.some((stem) => word.stem.endsWith(stem)))
        const isAlso = isMissing && cancelled && (!isLiteral || isStill) && question.today !== undefined
        return [{ ...span, match, condition: isAlso ? { kind: 'all', column: index, conditions: [condition, cancelled] } : condition }]
      })
      return found.length > 0
        ? found
        : createValueStates(state, columns, values).map((condition) => ({ ...span, match: 'boolean', condition }))
    }),
  )
  // "Unreturned" where the column is "Returned on".
  const opposites = words.flatMap(({ text }, start): LinkedCondition[] => {
    const stem = splitWords(/^un([a-z]{4,})$/.exec(text)?.[1] ?? '')[0]?.stem
    if (stem === undefined || isOverlapped({ start, end: start + 1 })) return []
    return columns.flatMap((column, index) =>
      stems[index]?.includes(stem) && column.type !== 'boolean' && column.hasEmptyCells
        ? [{ start, end: start + 1, match: 'empty' as const, condition: { kind: 'empty' as const, column: index } }]
        : [],
    )
  })
  // "Which costumes are borrowed?" where the column is "Borrowed by".
  const filled = words.flatMap(({ text }, start): LinkedCondition[] => {
    if (!BE.has(words[start - 1]?.text ?? '') || words[start + 1]?.text === 'by' || isOverlapped({ start, end: start + 1 })) return []
    return columns.flatMap(({ header, type, hasEmptyCells }, column) =>
      type === 'text' && hasEmptyCells && /^(\w+ed)[ _](?:by|to)$/i.exec(header)?.[1]?.toLowerCase() === text
        ? [{ start, end: start + 1, match: 'empty' as const, condition: { kind: 'empty' as const, column, isNegated: true as const } }]
        : [],
    )
  })
  // "Have arrived" where the column is "Arrived on", unless a date says when.
  const happened = words.flatMap(({ text, stem }, start): LinkedCondition[] => {
    const span = { start, end: start + 1 }
    const next = words.findIndex(({ isStop }, index) => index > start && !isStop)
    const isDated = question.dates.some((date) => covers(date, next) || date.start === start + 1)
    if (!/(?:ed|en|id|ld|nt)$/.test(text) || !PERFECT.has(words[start - 1]?.text ?? '') || isDated || isOverlapped(span)) return []
    return columns.flatMap(({ readings, hasEmptyCells }, column) =>
      readings.date && hasEmptyCells && stems[column]?.[0] === stem && question.today !== undefined
        ? [{ ...span, match: 'empty' as const, isState: true as const, condition: { kind: 'empty', column, isNegated: true } as const }]
        : [],
    )
  })
  return [
    ...states,
    ...opposites,
    ...filled,
    ...happened,
    ...createDebtStates(question, columns, stems),
    ...createLimitStates(question, columns, stems),
    ...createTimeStates(question, table, named),
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

/** "In arrears" and "owes us money" where a column has the amount. */
const createDebtStates = ({ words, today }: Question, columns: readonly Column[], stems: readonly string[][]): LinkedCondition[] =>
  columns.flatMap((column, index): LinkedCondition[] =>
    today === undefined || !isMoney(column) || !stems[index]?.some((stem) => DEBT_HEADERS.has(stem))
      ? []
      : findPatterns(words, IN_DEBT).map((span) => ({
          ...span,
          match: 'boolean',
          isState: true,
          condition: { kind: 'numbers', column: index, comparison: 'more', value: 0 },
        })),
  )

/** "Sold out" and "running low" compare what there is with its limit. */
function createLimitStates({ words }: Question, columns: readonly Column[], stems: readonly string[][]): LinkedCondition[] {
  const listColumns = (wanted: ReadonlySet<string>) =>
    columns.flatMap(({ readings, type }, column) =>
      readings.number && type !== 'boolean' && stems[column]?.some((stem) => wanted.has(stem)) ? [column] : [],
    )
  return LIMIT_STATES.flatMap(({ pattern, comparison, limits, measures }) => {
    const [other, secondLimit] = listColumns(limits)
    // Those who booked take the places, also if fewer came.
    const all = listColumns(measures).filter((measure) => measure !== other)
    const [column, secondMeasure] = all.length > 1 ? all.filter((measure) => !stems[measure]?.includes('attend')) : all
    if (other === undefined || column === undefined || secondLimit !== undefined || secondMeasure !== undefined) return []
    const condition: Condition = { kind: 'than_column', column, reading: 'number', comparison, other }
    return findPatterns(words, pattern).flatMap((span): LinkedCondition[] => {
      // The column "Reorder?" says so.
      const isColumn = words.some(
        ({ stem }, at) => covers(span, at) && columns.some(({ type }, index) => type === 'boolean' && stems[index]?.includes(stem)),
      )
      return isColumn ? [] : [{ ...span, match: 'row', condition }]
    })
  })
}
