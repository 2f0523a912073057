/** Excludes queries for what rows only mention: "who is Mia?", "where did I buy it?", "how many bedrooms do I have?". */
import { isPlace } from '../cells/column-roles.ts'
import { isLinked, type LinkedCondition, type Links } from '../linking/links.ts'
import { hasPeople } from '../linking/question-nouns.ts'
import { covers, type Question, type Word } from '../parse-question.ts'
import type { Condition, Operation, Query } from '../query.ts'
import type { Column, TypedTable } from '../typed-table.ts'
import { toStems, toWords } from '../vocabulary.ts'

/** Verbs for where something is. What was bought somewhere is not there. */
const LOCATIVE = toStems(
  `be keep kept store stored live work sit stand stay find found locate located base based hold held happen take took place put meet go
  hang park come play run start end currently now still station station situated book booked record stock build built`,
)
/** What people do with things. */
const WORK = toStems('live work use need want require')
const ARTICLES = toWords('the a an my our')
const BE = toWords('is are was were')

/** "More bills than" compares numbers of rows, "spend more than" amounts. */
export function comparesRows(words: readonly Word[]): boolean {
  const more = words.findIndex(({ text }) => text === 'more' || text === 'fewer' || text === 'less')
  const than = words.findIndex(({ text }) => text === 'than')
  return more >= 0 && words.some(({ isTitle }, index) => isTitle && index > more && index < than)
}

export function createRoleCheck({ words }: Question, table: TypedTable, links: Links): (query: Query) => boolean {
  const columnAt = (index: number) => table.columns[index] as Column
  const [first] = words
  // "Where did I buy it?" does not ask for the place of the thing, also where a column says when it was bought.
  const isOfDate = (index: number) =>
    links.columns.some((link) => covers(link, index) && columnAt(link.column).readings.date !== undefined) &&
    !links.conditions.some((linked) => covers(linked, index))
  const isOtherVerb = words.some(
    ({ stem, isStop, isTitle, isIgnored }, index) =>
      index > 0 &&
      (!isStop || isIgnored || isOfDate(index)) &&
      !isTitle &&
      (!isLinked(links, index) || isOfDate(index)) &&
      !LOCATIVE.has(stem),
  )
  const isOriginAsked = words.at(-1)?.text === 'from'
  const isOtherWork = words.some((word, index) => WORK.has(word.stem) && !isLinked(links, index) && !word.isTitle)
  const many = words.findIndex(({ text }) => text === 'many')
  const isCounted = ({ start, end, match, condition }: LinkedCondition): boolean =>
    many >= 0 &&
    start === many + 1 &&
    match !== 'date' &&
    condition.kind === 'equals' &&
    isPlace(columnAt(condition.column)) &&
    !words[end]?.isTitle &&
    !links.columns.some((link) => link.start === end)
  const isIdentity = (first?.text === 'who' || first?.text === 'what') && BE.has(words[1]?.text ?? '')
  return ({ operation, conditions }) => {
    const isRows = operation.kind === 'list' && operation.column === undefined
    if (first?.text === 'where' && (isRows || operation.kind === 'count' || isOtherVerb || isOriginAsked || !showsPlace(operation)))
      return false
    if (isRows && first?.text === 'when') return false
    // The rows of a table without people do not say who sold something, nor who lives in the office.
    if (first?.text === 'who' && !hasPeople(table.columns) && (isRows || isOtherWork)) return false
    if (isIdentity && words.every(({ text }, index) => index < 2 || ARTICLES.has(text) || isOfName(index, conditions))) return false
    // Things in the bedroom are no bedrooms.
    return !links.conditions.some((linked) => conditions.includes(linked.condition) && isCounted(linked))
  }

  /** "Where is the password written?" does not ask for the network. */
  function showsPlace(operation: Operation): boolean {
    const shown = 'column' in operation ? operation.column : 'by' in operation ? operation.by : undefined
    return shown === undefined || isPlace(columnAt(shown)) || links.columns.some(({ start, column }) => start === 0 && column === shown)
  }

  /** Whether a word is only part of the name of someone. */
  function isOfName(index: number, conditions: readonly Condition[]): boolean {
    const isPerson = ({ condition, match }: LinkedCondition) =>
      match !== 'boolean' &&
      condition.kind === 'equals' &&
      columnAt(condition.column).type === 'text' &&
      conditions.includes(condition) &&
      condition.column > 0
    return links.conditions.some((linked) => isPerson(linked) && covers(linked, index) && isWritten(linked))
  }

  /** A name is written with a capital letter; a state such as "absent" is not. */
  function isWritten({ condition }: LinkedCondition): boolean {
    return condition.kind === 'equals' && condition.values.every((value) => /^\p{Lu}/u.test(String(value)))
  }
}
