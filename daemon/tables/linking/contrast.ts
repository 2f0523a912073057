/** Finds two values that a question compares, and a column that is part of a total. */
import { identifiesRows, isMoney, isPercentage, isTotal } from '../cells/column-roles.ts'
import type { Question, Word } from '../parse-question.ts'
import type { Column, TypedTable } from '../typed-table.ts'
import { AMOUNT_STEMS, isSuperlative, SHARE_WORDS, TRIGGERS, toWords } from '../vocabulary.ts'
import { isDateCondition } from './date-choice.ts'
import type { LinkedCondition, Links } from './links.ts'

/** The same computed for both values, their difference, or the value with the larger result. */
export interface Contrast {
  result: 'each' | 'difference' | 'larger' | 'verdict'
  pairs: [LinkedCondition, LinkedCondition][]
}

const CONNECTIVES = {
  each: new Set(['vs', 'versus', 'and', 'to', 'with', 'against', 'or']),
  difference: new Set(['than', 'and', 'to', 'from', 'versus', 'vs']),
  larger: new Set(['or', 'vs', 'versus']),
  verdict: new Set(['than']),
}
/** "Did Acme spend more than Globex?" */
const VERDICT = /^(?:is|are|was|were|do|does|did|has|have|had)\b.*\b(?:more|less|fewer|\w{3,}er)\b.*\bthan\b/i
const DIFFERENCE = /\bdifference\b|\bhow (?:many|much) (?:more|less|fewer|\w{3,}er)\b.*\bthan\b/i
const COMPARED: ReadonlySet<LinkedCondition['match']> = new Set(['exact', 'part', 'number', 'boolean', 'date'])
const OTHERS = toWords('other others rest remaining')

/** Finds two values that are compared with each other: "Sales vs Finance", "how much more than", "is it higher in May or June". */
export function findContrast({ text, words }: Question, { conditions }: Links, [date]: readonly number[]): Contrast | undefined {
  const isTrigger = (word: Word) => (TRIGGERS.contrast as readonly string[]).includes(word.text)
  const isVerdict = VERDICT.test(text) && !DIFFERENCE.test(text) && !words.some(isTrigger)
  const result = isVerdict ? 'verdict' : DIFFERENCE.test(text) ? 'difference' : words.some(isTrigger) ? 'each' : 'larger'
  const list = conditions.filter(
    ({ match, condition }) => COMPARED.has(match) && (!isDateCondition(condition) || condition.column === date),
  )
  const others = result === 'larger' || result === 'verdict' ? [] : list.flatMap((linked) => negateForOthers(words, linked))
  const pairs = list.flatMap((first) =>
    [...list, ...others].flatMap((second): [LinkedCondition, LinkedCondition][] => {
      const [a, b] = [first.condition, second.condition]
      const between = words.slice(first.end, second.start)
      const isJoined = first.end < second.start && between.some((word) => CONNECTIVES[result].has(word.text))
      return isJoined && a.kind === b.kind && a.column === b.column ? [[first, second]] : []
    }),
  )
  // "More than 5" is no comparison of two values.
  if (result === 'verdict')
    return pairs.length > 0 && pairs.every(([first, second]) => isNamed(first) && isNamed(second)) ? { result, pairs } : undefined
  if (result !== 'larger') return { result, pairs }
  const isChoice = words.some(isSuperlative) && !words.some((word) => word.text === 'than')
  return isChoice && pairs.length > 0 ? { result, pairs } : undefined
}

/** "The other teachers" beside the native speakers. */
function negateForOthers(words: readonly Word[], { end, match, condition }: LinkedCondition): LinkedCondition[] {
  const start = words.findIndex(({ text }, index) => index > end && OTHERS.has(text))
  if (start < 0 || condition.kind !== 'equals' || condition.isNegated) return []
  const isBoolean = match === 'boolean'
  const negated = isBoolean ? { ...condition, values: [condition.values[0] === 1 ? 0 : 1] } : { ...condition, isNegated: true as const }
  return [{ start, end: start + 1, match, condition: negated }]
}

/** "What share of the takings was paid by card?" where a column has what was paid by card, and another one the total. */
export function findShareOfTotal({ words }: Question, { columns }: TypedTable, links: Links): { part: number; whole: number } | undefined {
  if (!words.some(({ text }, index) => SHARE_WORDS.has(text) && words[index - 1]?.number === undefined)) return undefined
  const isAmount = (column: number) => {
    const { [column]: found } = columns
    return (
      found?.readings.number !== undefined &&
      found.type !== 'boolean' &&
      !found.isReference &&
      !identifiesRows(found) &&
      !isPercentage(found)
    )
  }
  const wholes = [...columns.keys()].filter((column) => isAmount(column) && isTotal(columns[column] as Column))
  const named = links.columns.filter(({ match, column }) => match !== 'synonym' && isAmount(column) && !wholes.includes(column))
  const [part, other] = new Set(named.map(({ column }) => column))
  const [whole, second] = wholes
  const isCompared = links.conditions.some(({ match, condition }) => match === 'comparison' && condition.column === part)
  const isOfAmount =
    words.some(({ stem }) => AMOUNT_STEMS.has(stem)) || links.columns.some(({ column, match }) => column === whole && match !== 'synonym')
  if (!isOfAmount || part === undefined || whole === undefined || other !== undefined || second !== undefined || isCompared)
    return undefined
  const [a, b] = [columns[part], columns[whole]] as [Column, Column]
  return a.unit === b.unit && isMoney(a) === isMoney(b) ? { part, whole } : undefined
}

const isNamed = ({ match, condition }: LinkedCondition): boolean => condition.kind === 'equals' && match !== 'number'
