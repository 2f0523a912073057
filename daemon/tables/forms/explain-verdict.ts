/** Says whether a query explains every word of a question for yes or no: one that is dropped makes a yes wrong and look certain. */
import { isMoney } from '../cells/column-roles.ts'
import type { Links } from '../linking/links.ts'
import type { Demands } from '../linking/question-demands.ts'
import { covers, type Question, type Word } from '../parse-question.ts'
import { type Condition, listAllConditions, listUsedColumns, type Query } from '../query.ts'
import type { TypedTable } from '../typed-table.ts'
import { CURRENCY_STEMS, list, toStems } from '../vocabulary.ts'

/** Words that say nothing about rows. */
const EMPTY: ReadonlySet<string> = new Set(
  list(`exist exists anything something anyone someone anybody somebody everything everyone everybody thing things entry entries row rows
    record records currently now today ever yet already still even however also there here company`),
)
/** What a table with amounts of money is about. */
const TRADE = toStems('buy bought purchase sell sold order ordered spend spent pay paid cost earn receive invoice bill charge')

export function createVerdictExplanation(
  { words, numbers }: Question,
  table: TypedTable,
  links: Links,
  demands: Pick<Demands, 'quantifier'>,
): (query: Query) => boolean {
  const hasMoney = table.columns.some(isMoney)
  const isEmpty = ({ text, stem, isStop, isIgnored, isTitle }: Word) =>
    isTitle || (isStop && !isIgnored) || EMPTY.has(text) || CURRENCY_STEMS.has(stem) || (hasMoney && TRADE.has(stem))
  const isNumber = (index: number) => words[index]?.number !== undefined || numbers.some((number) => covers(number, index))
  // A word of a value is no empty word: "has Acme paid?"
  const isValue = (index: number) =>
    !words[index]?.isTitle && !words[index]?.isStop && links.conditions.some((linked) => linked.match === 'exact' && covers(linked, index))
  const isStated = (index: number, conditions: readonly Condition[]) =>
    links.conditions.some((linked) => covers(linked, index) && conditions.some((condition) => includes(condition, linked.condition)))
  const { kind, index: quantifier, size } = demands.quantifier ?? {}
  const isSaid = (index: number) => (kind !== 'whole' && index === quantifier) || (size !== undefined && covers(size, index))
  const open = [...words.keys()].filter((index) => !isSaid(index) && (isNumber(index) || isValue(index) || !isEmpty(words[index] as Word)))
  return (query) => {
    const conditions = listAllConditions(query)
    const used = new Set(listUsedColumns(query))
    const isLinked = (index: number) =>
      links.columns.some(({ start, end, match, column }) => covers({ start, end }, index) && (match !== 'synonym' || used.has(column)))
    return open.every((index) => isStated(index, conditions) || isLinked(index))
  }
}

/** "Paid or open" is one condition with two values. */
const includes = (condition: Condition, part: Condition): boolean =>
  condition === part ||
  (condition.kind === 'equals' &&
    part.kind === 'equals' &&
    condition.column === part.column &&
    condition.isNegated === part.isNegated &&
    part.values.every((value) => condition.values.includes(value)))
