/** Finds "all", "no", "only" and "most" in a question for yes or no, and the rows that they are about. */
import { isPlace } from '../cells/column-roles.ts'
import { type ColumnLink, hasHeaderStem, type LinkedCondition, type Links } from '../linking/links.ts'
import { covers, type Question, type Span, type Word } from '../parse-question.ts'
import type { Condition, NumberComparison, Operation } from '../query.ts'
import { STATUS_STEMS } from '../states/link-statuses.ts'
import type { Column, TypedTable } from '../typed-table.ts'
import { isSuperlative, TRIGGERS, toWords } from '../vocabulary.ts'

/**
 * "Unclear" are words such as "almost all" and "many": no number of rows says yes or no. "Whole" is "has Acme paid?", which is only
 * clear if all rows of Acme are so, or none.
 */
export interface Quantifier {
  kind: 'all' | 'no' | 'only' | 'most' | 'whole' | 'unclear'
  index: number
  /** "More than three invoices". */
  size?: Span & { comparison: NumberComparison; value: number }
}

type Test = Extract<Operation, { kind: 'quantified' }>['quantifier']

/** The rows that are counted, those of them that must be so, and the column whose values are counted instead of rows. */
export interface QuantifiedRows {
  among: Condition[]
  conditions: Condition[]
  by?: number
}

const ALL = toWords('all every each everything everyone everybody')
const NONE = toWords('no none nothing')
/** "No more than", "no longer". */
const AFTER_OTHER_NO = toWords('more less fewer later earlier longer show')
const UNCLEAR = toWords(
  'many few several half majority third quarter nearly almost mostly largely usually always never nobody both often generally',
)
const BE = toWords('is are was were')
const HAVE = toWords('have has had with')
const PREPOSITIONS = toWords('of in from at for with on over under above below by since after before during within between')
const INDEFINITE = toWords('there any anything anyone anybody some something someone a an or')
const ARTICLES = toWords('the a an our my their')

/** Returns the only quantifier of a question for yes or no. */
export function findQuantifier(question: Question, table: TypedTable, links: Links): Quantifier | undefined {
  const { words } = question
  if (!(TRIGGERS.boolean as readonly string[]).includes(words[0]?.text ?? '')) return undefined
  const found = words.flatMap((_, index): Quantifier[] => {
    // "Items with no warranty" are those where a cell is empty, and "All Saints" is a name.
    const isNamed = links.conditions.some((linked) => linked.match !== 'part' && covers(linked, index))
    const kind = index === 0 || isNamed ? undefined : getKind(words, index)
    return kind === undefined ? [] : [{ kind, index }]
  })
  const [first, second] = found
  if (first) return second ? { ...first, kind: 'unclear' } : first
  return findNumberOfRows(question, links) ?? findWhole(question, table, links)
}

/** "More than three open invoices" compares the number of rows, not an amount. */
function findNumberOfRows({ words, numbers }: Question, { conditions }: Links): Quantifier | undefined {
  const isDescribed = (index: number) => words[index]?.isStop === true || conditions.some((linked) => covers(linked, index))
  return numbers.flatMap(({ start, end, value, comparison }): Quantifier[] => {
    const noun = words.findIndex(({ isTitle }, index) => index >= end && isTitle)
    const isOfRows = noun >= 0 && words.slice(end, noun).every((_, offset) => isDescribed(end + offset))
    return isOfRows && comparison !== 'equal' && comparison !== 'between'
      ? [{ kind: 'all', index: start, size: { start, end, comparison, value } }]
      : []
  })[0]
}

function findWhole({ words }: Question, table: TypedTable, { conditions }: Links): Quantifier | undefined {
  const [first] = words
  if (!(BE.has(first?.text ?? '') || HAVE.has(first?.text ?? '')) || words.some(({ text }) => INDEFINITE.has(text))) return undefined
  const states = conditions.filter((linked) => isState(linked, words, table))
  const names = conditions.filter((linked) => linked.match === 'exact' && !states.includes(linked))
  const state = states.find(({ start }) => names.some(({ end }) => end <= start))
  return state ? { kind: 'whole', index: state.start } : undefined
}

function getKind(words: readonly Word[], index: number): Quantifier['kind'] | undefined {
  const { text = '' } = words[index] ?? {}
  const next = words[index + 1]
  if (UNCLEAR.has(text) || (text === 'no' && next?.text === 'one')) return 'unclear'
  if (ALL.has(text)) return words[index - 1]?.text === 'not' ? 'unclear' : 'all'
  if (NONE.has(text)) return AFTER_OTHER_NO.has(next?.text ?? '') ? undefined : 'no'
  // "Only five orders" compares a number.
  if (text === 'only') return next?.number === undefined ? 'only' : 'unclear'
  const isCompared = words[index - 1]?.text === 'the' || words[index - 1]?.text === 'at' || isSuperlative(next ?? { text: '' })
  return text === 'most' && !isCompared ? 'most' : undefined
}

/** Says how many of the rows must be so. */
export const getTest = ({ kind, size }: Quantifier): Test =>
  size ? { comparison: size.comparison, value: size.value } : kind === 'only' || kind === 'unclear' ? 'all' : kind

/** Divides the conditions of a question into those that choose the rows and those that must hold. Undefined: it is not clear. */
export function divideConditions(
  { kind, index, size }: Quantifier,
  conditions: readonly LinkedCondition[],
  words: readonly Word[],
  table: TypedTable,
  links: Links,
): QuantifiedRows | undefined {
  const sorted = conditions.toSorted((a, b) => a.start - b.start)
  if (sorted.length === 0 || kind === 'unclear') return undefined
  if (size) return sorted.some(({ start, end }) => start < size.end && end > size.start) ? undefined : create([], sorted)
  if (kind === 'whole') {
    const states = sorted.filter((linked) => isState(linked, words, table))
    const names = sorted.filter((linked) => !states.includes(linked))
    return states.length > 0 && names.length > 0 ? create(names, states) : undefined
  }
  const [before, after] = [sorted.filter(({ start }) => start < index), sorted.filter(({ start }) => start > index)]
  if (kind === 'no') return create([], sorted)
  if (kind === 'only') return divideOnly(words, index, before, after)
  if (before.length > 0) {
    // "Has Acme paid everything?" is about the rows of Acme, "did Mia handle all invoices?" about all of them.
    const states = before.filter((linked) => isState(linked, words, table))
    const names = before.filter((linked) => !states.includes(linked))
    if (BE.has(words[0]?.text ?? '') || findGroup(words, index, after, table, links)) return undefined
    return states.length > 0 ? create([...names, ...after], states) : names.length === 1 ? create(after, names) : undefined
  }
  // "Have all warranties expired?" is about the rows that have one.
  const own = new Set(after.map(({ condition }) => condition.column))
  const [column = 0] = own
  const isOwn = links.columns.some((link) => link.column === column && link.start > index && link.start <= index + 2)
  if (own.size === 1 && isOwn && table.columns[column]?.hasEmptyCells && after.every(({ condition }) => condition.kind !== 'empty'))
    return { among: [{ kind: 'empty', column, isNegated: true }], conditions: after.map(({ condition }) => condition) }
  const group = findGroup(words, index, after, table, links)
  const head = group?.start ?? findHead(words, index, after)
  const [described, said] = [after.filter(({ start }) => start < head), after.filter(({ start }) => start > head)]
  if (said.length === 0) return undefined
  if (!group) {
    // "All invoices from May paid by Acme": prepositions before the first state say which rows are meant.
    const isAdjunct = ({ start, match }: LinkedCondition) => {
      const previous = ARTICLES.has(words[start - 1]?.text ?? '') ? words[start - 2] : words[start - 1]
      return match === 'comparison' || match === 'date' || [previous, words[start]].some((word) => PREPOSITIONS.has(word?.text ?? ''))
    }
    const first = said.findIndex((linked) => !isAdjunct(linked))
    const from = first < 0 ? said.length - 1 : first
    return create([...described, ...said.slice(0, from)], said.slice(from))
  }
  if (described.length > 0) return undefined
  const hasObject = words.slice(group.end, said[0]?.start).some(({ text }) => HAVE.has(text))
  if (hasObject) return { ...create([], said), by: group.column }
  const isSaidOfRows = said.every((linked) => isState(linked, words, table) || isPlace(table.columns[linked.condition.column] as Column))
  return isSaidOfRows ? { ...create([], said), ...(kind === 'most' ? { by: group.column } : {}) } : undefined
}

const create = (among: readonly LinkedCondition[], conditions: readonly LinkedCondition[]): QuantifiedRows => ({
  among: among.map(({ condition }) => condition),
  conditions: conditions.map(({ condition }) => condition),
})

/** "The only customer with overdue invoices", "only Mia handled it", "Acme has only open invoices". */
function divideOnly(
  words: readonly Word[],
  index: number,
  before: readonly LinkedCondition[],
  after: readonly LinkedCondition[],
): QuantifiedRows | undefined {
  if (words[index - 1]?.text === 'the') return before.length === 1 ? create(after, before) : undefined
  const [first, ...rest] = after
  if (!first) return undefined
  if (before.length > 0) return create(before, after)
  return first.start <= index + 2 && rest.length > 0 ? create(rest, [first]) : undefined
}

const STATE = /(?:ed|paid|sent|done|sold|open|due|complete|pending|free|available)$/

/** Whether words say in which state rows are, not what they are called. */
const isState = ({ start, end, match, condition }: LinkedCondition, words: readonly Word[], { columns }: TypedTable): boolean =>
  match === 'boolean' ||
  match === 'empty' ||
  match === 'row' ||
  condition.kind === 'all' ||
  (condition.kind === 'equals' &&
    (hasHeaderStem(columns[condition.column], STATUS_STEMS) || words.slice(start, end).some(({ text }) => STATE.test(text))))

/** The last word of "all", "all overdue invoices" or "all the chairs". */
function findHead(words: readonly Word[], index: number, after: readonly LinkedCondition[]): number {
  const title = words.findIndex(({ isTitle }, at) => at > index && isTitle)
  const first = after[0]?.start ?? words.length
  if (title >= 0 && words.slice(index + 1, title).every((_, offset) => isDescription(words, index + 1 + offset, after))) return title
  const noun = after.find(({ start, match }) => start === first && match !== 'date' && match !== 'comparison')
  const isNoun = noun !== undefined && words.slice(index + 1, first).every(({ text }) => ARTICLES.has(text) || text === 'of')
  // "All the chairs" are those with the value.
  return isNoun && after.length > 1 ? noun.end - 0.5 : index
}

const isDescription = (words: readonly Word[], index: number, after: readonly LinkedCondition[]): boolean =>
  (words[index]?.isStop ?? false) || after.some((linked) => covers(linked, index))

/** "Customers" of "do all customers have open invoices": a column whose values are meant. */
function findGroup(
  words: readonly Word[],
  index: number,
  after: readonly LinkedCondition[],
  { columns }: TypedTable,
  { columns: links }: Links,
): ColumnLink | undefined {
  const noun = words.findIndex((_, at) => at > index && !isDescription(words, at, after))
  const linked = words.findIndex((_, at) => at > index && links.some(({ start }) => start === at))
  const start = noun >= 0 ? Math.min(noun, linked < 0 ? noun : linked) : linked
  const isBefore = words.slice(index + 1, start).every((_, offset) => isDescription(words, index + 1 + offset, after))
  if (start < 0 || !isBefore || words[start]?.isTitle || after.some((each) => covers(each, start) && each.match !== 'empty'))
    return undefined
  const named = links.filter((link) => link.start === start && link.match !== 'synonym')
  return named.find(({ column }) => column > 0 && (columns[column]?.type === 'text' || columns[column]?.readings.date !== undefined))
}
