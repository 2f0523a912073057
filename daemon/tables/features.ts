/** The features of candidate queries, which the learned weights score. */
import { type Candidate, countBits, type FilterSet, getMask, getMasks, type Part } from './candidate.ts'
import { findNamingColumn } from './cells/column-roles.ts'
import { type LinkedCondition, type Links, RANKS, selectBestLink } from './linking/links.ts'
import { listLimits, type Question, splitWords, type Word } from './parse-question.ts'
import type { Direction, Grouping, Query } from './query.ts'
import type { Column, SqlValue, TypedTable } from './typed-table.ts'
import { isOperationWord, isSuperlative } from './vocabulary.ts'

/** What the columns of a query are for. */
export interface Roles {
  target?: number
  key?: number
  direction?: Direction
}

const QUESTION_WORDS = new Set(['who', 'when', 'where', 'which', 'what', 'how', 'whose', 'whom'])
const MAX_COUNT = 6

/** "how many", "which", or the first word. */
export function getQuestionType({ words }: Question): string {
  const index = words.findIndex(({ text }) => QUESTION_WORDS.has(text))
  if (index < 0) return words[0]?.text ?? ''
  const word = words[index]?.text ?? ''
  return word === 'how' ? `how ${words[index + 1]?.text ?? ''}` : word
}

export function createFeatureSource(question: Question, table: TypedTable, links: Links) {
  const { words } = question
  const type = getQuestionType(question)
  const maskWords = (isMasked: (word: Word) => boolean): number =>
    getMasks(words.flatMap((word, start) => (isMasked(word) ? [{ start, end: start + 1 }] : [])))
  const contentMask = maskWords(({ isStop }) => !isStop)
  const superlatives = words.flatMap((word, index) => (isSuperlative(word) ? [{ text: word.text, index }] : []))
  const superlativeMask = maskWords(isSuperlative)
  const headers = table.columns.map(({ header }) => splitWords(header).map(({ stem }) => stem))
  const firstText = table.columns.findIndex((column) => column.type === 'text' && !column.readings.number && !column.readings.date)
  const parts = new Map<string, Part>()
  const memoize = (key: string, create: () => Part): Part => {
    const known = parts.get(key)
    if (known) return known
    const part = create()
    parts.set(key, part)
    return part
  }
  const operationMask = maskWords(isOperationWord)
  const linksOf = table.columns.map((_, column) => links.columns.filter((link) => link.column === column))
  const questionIndex = Math.max(
    0,
    words.findIndex(({ text }) => QUESTION_WORDS.has(text)),
  )
  /** Words that name the rows, such as "accounts" where the first column is "Account", or the second one, after "ID". */
  const rowNames = new Set([0, firstText, findNamingColumn(table.columns)])
  const rowMask = getMasks(links.columns.filter(({ match, column }) => match !== 'synonym' && rowNames.has(column)))
  const limitMask = getMasks(listLimits(question))
  /** All words that name columns. */
  const maskColumns = (columns: readonly (number | undefined)[]) =>
    getMasks(columns.flatMap((column) => (column === undefined ? [] : (linksOf[column] ?? []))))
  const typeOf = (column: number) => describeType(table.columns[column] as Column)

  /** What the words after "how many" or "which" name: a column of some type, or none. */
  const noun = links.columns
    .filter(({ start, match }) => match !== 'synonym' && start > questionIndex && start <= questionIndex + 3)
    .sort((a, b) => a.start - b.start || RANKS[b.match] - RANKS[a.match])[0]
  const nounType = noun ? `${typeOf(noun.column)} ${noun.match}` : 'none'

  const createOperationPart = (sign: string): Part => {
    const texts = words.map(({ text, number }) => (number === undefined ? text : '#'))
    return {
      mask: 0,
      features: [
        `op ${sign}`,
        `op ${sign} ${type}`,
        `noun ${nounType} ${type} ${sign}`,
        ...[...new Set(texts)].map((text) => `word ${text} ${sign}`),
        ...texts.slice(1).map((text, index) => `words ${texts[index]} ${text} ${sign}`),
        `start ${texts.slice(0, 3).join(' ')} ${sign}`,
      ],
    }
  }

  const createTargetPart = (column: number, sign: string): Part => {
    const best = selectBestLink(linksOf[column] ?? [])
    const match = best?.match ?? 'none'
    const isNext = best !== undefined && best.start > questionIndex && best.start <= questionIndex + 2
    const anyLinked = links.columns.some((link) => link.match === 'exact')
    return {
      mask: best ? getMask(best) : 0,
      features: [
        `target ${match}`,
        `target ${match} ${sign}`,
        `target ${match} ${anyLinked ? 'other' : 'alone'}`,
        ...(isNext ? [`target after ${match}`, `target after ${match} ${sign}`] : []),
        ...(best && best.start < 5 ? [`target early ${match}`] : []),
        `target ${typeOf(column)} ${type}`,
        `target ${typeOf(column)} ${sign}`,
        ...(column === 0 ? [`target first ${sign}`, `target first ${type} ${match}`] : []),
        ...(column === firstText ? [`target text ${sign}`, `target text ${type} ${match}`] : []),
        ...(best ? [] : listHeaderPairs(column, 'pair')),
      ],
    }
  }

  const listHeaderPairs = (column: number, role: string) =>
    [...new Set(words.map(({ stem }) => stem))].flatMap((stem) => (headers[column] ?? []).map((header) => `${role} ${stem} ${header}`))

  const createKeyPart = (column: number, sign: string, direction?: Direction): Part => {
    const best = selectBestLink(linksOf[column] ?? [])
    const match = best?.match ?? 'none'
    const near = best && superlatives.some(({ index }) => best.start > index && best.start <= index + 2)
    return {
      mask: (best ? getMask(best) : 0) | superlativeMask,
      features: [
        `key ${match} ${sign}`,
        `key ${match}`,
        ...(near ? [`key near ${match}`] : []),
        `key ${typeOf(column)} ${sign}`,
        ...(column === 0 ? [`key first ${sign}`] : []),
        ...superlatives.flatMap(({ text }) => [
          `key ${text} ${direction}`,
          `key ${text} ${typeOf(column)} ${direction}`,
          ...(headers[column] ?? []).map((header) => `keypair ${text} ${header} ${direction}`),
        ]),
        ...(best ? [] : listHeaderPairs(column, 'keyword')),
      ],
    }
  }

  const createConditionPart = (linked: LinkedCondition): Part => {
    const { start, end, match, condition } = linked
    const length = Math.min(4, end - start)
    const mask = getMask(linked)
    const rivals = links.conditions.filter(
      (other) => other.condition.column !== condition.column && other.start === start && other.end === end,
    )
    const isSwallowed = links.conditions.some((other) => other.start <= start && other.end >= end && other.end - other.start > end - start)
    const header = linksOf[condition.column]?.find((link) => link.start <= end + 1 && link.end >= start - 2)
    const isHeaderWord = links.columns.some((link) => link.match !== 'synonym' && getMask(link) & mask)
    return {
      mask: mask | (header ? getMask(header) : 0),
      features: [
        `if ${match}`,
        `if ${match} ${length}`,
        `if ${match} ${typeOf(condition.column)}`,
        `if ${condition.kind} ${typeOf(condition.column)}`,
        ...(header ? [`if header ${match} ${header.match}`] : [`if no header ${match}`]),
        ...(rivals.length > 0 ? [`if rivals ${match} ${Math.min(3, rivals.length)}`] : []),
        ...(rivals.some((other) => other.match === 'exact') && match === 'part' ? ['if part rival exact'] : []),
        ...(isSwallowed ? [`if swallowed ${match}`] : []),
        ...(isHeaderWord ? [`if header word ${match}`] : []),
        ...(condition.column === 0 ? [`if first ${match}`] : []),
        `if before ${words[start - 1]?.text ?? '^'} ${match === 'part' ? 'exact' : match}`,
        ...(length === 1 ? [`if word ${words[start]?.stem}`] : []),
        ...(condition.kind === 'equals' && condition.isNegated ? [`if not ${match}`] : []),
        ...(condition.kind === 'equals' && condition.values.length > 1 ? [`if several ${match}`] : []),
      ],
    }
  }

  const conditionParts = new Map<LinkedCondition, Part>()
  const getConditionPart = (linked: LinkedCondition): Part => {
    const part = conditionParts.get(linked) ?? createConditionPart(linked)
    conditionParts.set(linked, part)
    return part
  }

  const createCandidate = (query: Query, sign: string, set: FilterSet, { target, key, direction }: Roles): Candidate => {
    const own = [memoize(`op ${sign}`, () => createOperationPart(sign))]
    if (target !== undefined) own.push(memoize(`target ${target} ${sign}`, () => createTargetPart(target, sign)))
    if (key !== undefined) own.push(memoize(`key ${key} ${sign} ${direction}`, () => createKeyPart(key, sign, direction)))
    for (const linked of set.conditions) own.push(getConditionPart(linked))
    const groupings = listGroupings(query)
    const isPart = (text: string) => groupings.some(({ part }) => part && text.startsWith(part))
    const partMask = maskWords(({ text }) => isPart(text))
    const mask = own.reduce((all, part) => all | part.mask, set.mask | partMask)
    const uncovered = Math.min(MAX_COUNT, countBits(contentMask & ~mask))
    const isFiltered = set.conditions.some(({ condition }) => condition.column === target)
    const isKeyFiltered = key !== undefined && set.conditions.some(({ condition }) => condition.column === key)
    const targetLink = target === undefined ? undefined : selectBestLink(linksOf[target] ?? [])
    const overlap = targetLink !== undefined && (set.mask & getMask(targetLink)) !== 0
    const features = [
      `uncovered ${uncovered}`,
      `uncovered ${uncovered} ${sign}`,
      `conditions ${set.conditions.length} ${sign}`,
      ...(isFiltered ? [`target filtered ${sign}`, `target filtered ${set.conditions.map(({ match }) => match).join()}`] : []),
      ...(isKeyFiltered ? [`key filtered ${sign}`] : []),
      ...(target !== undefined && target === key ? [`target is key ${sign} ${type}`] : []),
      ...(overlap ? ['target word in condition'] : []),
    ]
    const unexplained = countBits(
      contentMask &
        ~mask &
        ~operationMask &
        ~rowMask &
        ~limitMask &
        ~maskColumns([target, key, ...groupings.map(({ by }) => by), ...set.conditions.map(({ condition }) => condition.column)]),
    )
    return { query, parts: own, features, unexplained }
  }
  return { createCandidate }
}

export type FeatureSource = ReturnType<typeof createFeatureSource>

/** The columns whose values are compared or grouped by. */
function listGroupings({ operation }: Query): Grouping[] {
  if (operation.kind === 'group') return [operation, ...(operation.and ? [operation.and] : [])]
  if (operation.kind === 'having') return [operation]
  return operation.kind === 'contrast' || operation.kind === 'difference' || operation.kind === 'difference_of_counts'
    ? [{ by: operation.rows[0].column }]
    : []
}

function describeType({ type, readings }: Column): string {
  if (type === 'text' && readings.number) return 'text with number'
  if (type === 'text' && readings.date) return 'date'
  return type === 'decimal' || type === 'currency' || type === 'percentage' ? 'number' : type
}

/** Features of a result: most questions have exactly one answer, which is not in the question. */
export function describeResult(question: Question, query: Query, rows: readonly (readonly SqlValue[])[]): string[] {
  const values = rows.map(([value]) => value).filter((value) => value !== null && value !== undefined)
  const { kind } = query.operation
  const type = getQuestionType(question)
  const size = values.length === 0 ? 'none' : values.length === 1 ? 'one' : values.length <= 3 ? 'few' : 'many'
  const texts = values.slice(0, 5).map((value) => splitWords(String(value)).map(({ stem }) => stem))
  const isRepeated = texts.some((stems) => stems.length > 0 && stems.every((stem) => question.stems.has(stem)))
  const isNumber = values.length > 0 && values.every((value) => typeof value === 'number' || /^[\d.,]+$/.test(String(value)))
  const isPlural = question.words
    .slice(0, 5)
    .some(({ text }) => text === 'are' || text === 'were' || (text.endsWith('s') && !['is', 'was', 'does', 'has', 's'].includes(text)))
  const hasOr = question.words.some(({ text }) => text === 'or')
  return [
    `result ${size}`,
    `result ${size} ${kind}`,
    `result ${size} ${isPlural ? 'plural' : 'singular'}`,
    `result ${isNumber ? 'number' : 'text'} ${type}`,
    ...(values.length === 1 && values[0] === 0 ? [`result zero ${kind}`] : []),
    ...(values.length === 1 && values[0] === 1 ? [`result one ${kind}`] : []),
    ...(isRepeated ? [`result repeated ${hasOr ? 'or' : ''}`, `result repeated ${kind}`] : []),
  ]
}
