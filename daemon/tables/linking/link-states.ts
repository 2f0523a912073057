/** Finds the states that columns imply: "vacant" where there is no tenant, "unpaid" where there is no date of payment, "late". */
import { isSecondary } from '../cells/column-roles.ts'
import { findPhrase, type Question, splitWords } from '../parse-question.ts'
import type { Condition } from '../query.ts'
import type { CellValue, Column } from '../typed-table.ts'
import { type LinkedCondition, listHeaderStems } from './links.ts'
import { ACTUAL_STEMS, CAPACITY, DUE_STEMS, FULL_PHRASES, PUNCTUALITY, STATES, type State } from './state-words.ts'

const BE: ReadonlySet<string> = new Set(['is', 'are', 'was', 'were', 'been'])

/** Whether a question has words for a state. Most have none. */
export const namesState = ({ words }: Question): boolean =>
  STATES.some(({ phrases }) => phrases.some((phrase) => findPhrase(words, phrase) >= 0))

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
  return [...states, ...opposites, ...filled, ...createFullness(question, columns, stems), ...createPunctuality(question, columns, stems)]
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

/** "Sold out": as much is sold as there is room for. */
function createFullness({ words }: Question, columns: readonly Column[], stems: readonly string[][]): LinkedCondition[] {
  const listColumns = (wanted: ReadonlySet<string>) =>
    columns.flatMap(({ readings }, column) => (readings.number && stems[column]?.some((stem) => wanted.has(stem)) ? [column] : []))
  const [other, secondLimit] = listColumns(CAPACITY.limits)
  const [column, secondMeasure] = listColumns(CAPACITY.measures)
  if (other === undefined || column === undefined || secondLimit !== undefined || secondMeasure !== undefined) return []
  const condition: Condition = { kind: 'than_column', column, reading: 'number', comparison: 'at_least', other }
  return FULL_PHRASES.flatMap((phrase): LinkedCondition[] => {
    const start = findPhrase(words, phrase)
    return start < 0 ? [] : [{ start, end: start + phrase.split(' ').length, match: 'row', condition }]
  })
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
