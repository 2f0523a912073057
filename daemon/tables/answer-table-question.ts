/** Answers a question from tables, or refuses. */

import { findNameColumn } from './cells/column-roles.ts'
import { formatValue } from './cells/format-value.ts'
import { describeQuery } from './describe-query.ts'
import { canBeEmpty, describeRange, isEmptyResult } from './empty-result.ts'
import { isDateCondition } from './linking/date-choice.ts'
import type { Links } from './linking/links.ts'
import { readAsQuantity, readAsTotal } from './linking/quantity-reading.ts'
import { type Demands, findDemands } from './linking/question-demands.ts'
import { asksForNumber, removeFiller } from './linking/question-form.ts'
import { hasPeople } from './linking/question-nouns.ts'
import { type ReadQuestion, readQuestion, readTitledQuestion } from './linking/read-question.ts'
import { hasTitleWord } from './linking/title-words.ts'
import { listLimits, parseQuestion, type Question, type Word } from './parse-question.ts'
import type { Condition, Operation, Query } from './query.ts'
import { groupResults, type RankedQuery, type RankedResult, type RunSql, rankQueries, type Weights } from './rank-queries.ts'
import { quoteName, writeSql } from './sql/write-sql.ts'
import { createSuitability } from './suits-question.ts'
import type { CellValue, SqlValue, TypedTable } from './typed-table.ts'
import { isOperationWord, toWords } from './vocabulary.ts'

export interface QueryableTable<T extends TypedTable = TypedTable> {
  table: T
  /** Values that the question may name. */
  values: readonly CellValue[]
  run: RunSql
}

export interface TableAnswer {
  table: TypedTable
  query: Query
  sql: string
  rows: SqlValue[][]
  /** The result as text. */
  values: string[]
  explanation: string
  /** The share of all readings of the question that have this result. */
  probability: number
  /** Whether words of the question name nothing in the table: the explanation says which. */
  isUncertain?: true
}

export interface AnswerOptions {
  /** The most words of a question that a query may leave unexplained. Questions that are not about tables have more. */
  maxUnexplained?: number
  /** Queries that are run to compare their results. */
  maxRuns?: number
  /** The least share of all readings that the best result must have. */
  minProbability?: number
  /** The day of the question as an ISO date. */
  today?: string
}

const MAX_RUNS = 40
/** Rows that are read to see whether a value is repeated. */
const MAX_CHECKED_ROWS = 50_000
/** Chosen on training questions that were held back: at least 70 of 100 answers are right. */
const MIN_PROBABILITY = 0.68
/** Another reading is shown beside the best one if it is almost as likely. */
const MIN_ALTERNATIVE_PROBABILITY = 0.3
/** Together, the readings that are shown must be this likely. */
const MIN_TOTAL_PROBABILITY = 0.7
/** Subtracted for each column that another table calls as the question does, and this one otherwise. */
const SYNONYM_PENALTY = 5
/** Subtracted for a date that the question means less likely than another one. */
const SECOND_DATE_PENALTY = 0.5
/** Added to the scores of the queries over a table that the question names. */
const TITLE_BONUS = 3

const LISTING_WORDS = toWords('which list show')

/** Returns the best answer, then other readings that are about as likely. Empty: the question is not answered. */
export function answerTableQuestion(
  text: string,
  tables: readonly QueryableTable[],
  weights: Weights,
  { maxUnexplained = Number.POSITIVE_INFINITY, maxRuns = MAX_RUNS, minProbability = MIN_PROBABILITY, today }: AnswerOptions = {},
): TableAnswer[] {
  // Where questions may be about anything, a query must suit the question, and one that explains more words is preferred.
  const isStrict = Number.isFinite(maxUnexplained)
  const parsed = parseQuestion(isStrict ? removeFiller(text) : text, today)
  const linked = tables.map((item) => ({ ...item, ...(isStrict ? readQuestion(parsed, item, tables) : readTitledQuestion(parsed, item)) }))
  const demanded = linked.map((item) => ({ ...item, ...(isStrict ? { demands: findDemands(item.question, item.table, item.links) } : {}) }))
  // "Who has been here the longest?" is about the table that says since when.
  const asked = demanded.some(({ demands }) => demands?.tenure) ? demanded.filter(({ demands }) => demands?.tenure) : demanded
  const hasNamedDate = asked.some(({ demands }) => demands?.dates.areNamed)
  // "Who started last?" is about a table with people, if there is one.
  const asksForPeople = parsed.words[0]?.text === 'who' && asked.some(({ table }) => hasPeople(table.columns))
  const ranked = asked.flatMap(({ table, run, question, links, rowNoun, demands }) => {
    const bonus = hasTitleWord(parsed, table) ? TITLE_BONUS : 0
    if (listUnknownWords(question, links).length > maxUnexplained) return []
    // "Sold per month" is about the table that says when something was sold.
    const isOtherDate = hasNamedDate && demands?.part !== undefined && !demands.dates.areNamed
    const isOfThings = asksForPeople && !hasPeople(table.columns)
    const penalty = (countSynonyms(links, linked) + (isOtherDate ? 1 : 0) + (isOfThings ? 1 : 0)) * SYNONYM_PENALTY
    const isRepeated = createRepetitionCheck(table, run)
    const restrictions = demands ? { demands, suits: createSuitability(question, table, links, demands, isRepeated) } : {}
    return rankQueries(question, table, links, weights, maxRuns, run, restrictions).map((item) => ({
      ...item,
      score: item.score + bonus - penalty - (demands && usesSecondDate(item.query, demands) ? SECOND_DATE_PENALTY : 0),
      isNamed: isNamed(question, item.query, links),
      rowNoun,
      ignored: question.words.filter(({ isIgnored }) => isIgnored).map(({ text }) => text),
      quantity: isStrict ? readAsQuantity(question, table, links, item.query, isRepeated) : undefined,
      run,
    }))
  })
  const adjusted = isStrict
    ? ranked.filter(
        ({ query, rows, unexplained, rowNoun, ignored }) =>
          unexplained <= maxUnexplained &&
          // All rows do not say how often something does what no word of the table says.
          !(ignored.some((word) => word !== rowNoun) && query.conditions.length === 0 && query.operation.kind === 'count') &&
          suitsResult(parsed, query, rows) &&
          // "How many children came?" does not ask for all visitors.
          !(countsNoun(parsed, rowNoun) && !usesRows(query)) &&
          // "Which declarations are still held?" needs a condition.
          !(rowNoun !== undefined && query.operation.kind === 'list' && query.conditions.length === 0),
      )
    : ranked
  const byResult = groupResults(adjusted.sort((a, b) => b.score - a.score))
  const results = isStrict ? joinSelections(byResult) : byResult
  const isShown = ({ probability, best: { unexplained, isNamed } }: (typeof results)[number]) =>
    probability >= MIN_ALTERNATIVE_PROBABILITY && unexplained <= maxUnexplained && (isNamed || !isStrict)
  // Several readings that are about as likely are all shown.
  const shown = results.filter(isShown)
  const [best] = shown
  // Two readings that contradict each other are no comparison.
  if (shown.length > 1 && shown.some(({ best: { query } }) => query.operation.kind === 'contrast')) return []
  const total = shown.reduce((sum, { probability }) => sum + probability, 0)
  const isLikely = best !== undefined && (best.probability >= minProbability || (isStrict && total >= MIN_TOTAL_PROBABILITY))
  if (!isLikely || best !== results[0]) return []
  if (isEmptyResult(best.best.rows)) {
    // "When was it delivered?" is not answered by "none".
    const isNone = isStrict && (asksForNumber(parsed) || LISTING_WORDS.has(parsed.words[0]?.text ?? '')) && canBeEmpty(best.best)
    return isNone ? [createAnswer({ ...best.best, rows: [] }, best.probability)] : []
  }
  const answers = shown.flatMap(({ best: counted, probability }) => {
    const { table, run, quantity } = counted
    const answerBy = (query: Query): FoundResult => {
      const sql = writeSql(table, query)
      return { ...counted, query, sql, rows: run(sql) }
    }
    const total = isStrict ? readAsTotal(parsed, table, counted.query, counted.rows.length) : undefined
    if (total) return [createAnswer(answerBy(total), probability)]
    const sums = quantity && answerBy(quantity)
    const results = sums && !isEmptyResult(sums.rows) ? [sums, counted] : [counted]
    return results.map((result) => createAnswer(result, probability))
  })
  return answers.filter((answer, index) => answers.findIndex((other) => getValueKey(other) === getValueKey(answer)) === index)
}

/** Several values answer neither "how many" nor "how much". */
const suitsResult = (question: Question, { operation }: Query, rows: readonly unknown[]): boolean =>
  operation.kind !== 'list' || rows.length <= 1 || !asksForNumber(question)

/** Whether "how many" is followed by the noun, after an adjective at most. */
const countsNoun = ({ words }: Question, noun: string | undefined): boolean => {
  const many = words.findIndex(({ text }) => text === 'many')
  return many >= 0 && noun !== undefined && words.slice(many + 1, many + 3).some(({ text }) => text === noun)
}

const usesSecondDate = ({ operation, conditions }: Query, { dates }: Demands): boolean => {
  const used = [...conditions.filter(isDateCondition).map(({ column }) => column), ...('part' in operation ? [operation.by] : [])]
  return used.some((column) => column !== dates.columns[0])
}

/** Returns whether values of a column repeat. In large tables, finding out takes too long, and they almost always do. */
function createRepetitionCheck(table: TypedTable, run: RunSql): (column: number) => boolean {
  const known = new Map<number, boolean>()
  return (column) => {
    const name = quoteName(table.columns[column]?.readings.text ?? '')
    const find = () => run(`SELECT COUNT(${name}) > COUNT(DISTINCT ${name}) FROM ${quoteName(table.name)}`)[0]?.[0] === 1
    const isRepeated = known.get(column) ?? (table.rowCount > MAX_CHECKED_ROWS || find())
    known.set(column, isRepeated)
    return isRepeated
  }
}

/** Identifies what is shown: a cell with "9,980" and a sum of 9980 are the same. */
const getValueKey = ({ values }: TableAnswer) => values.join('\0').replaceAll(/(?<=\d),(?=\d{3})/g, '')

interface FoundResult extends Pick<TableAnswer, 'table' | 'query' | 'sql' | 'rows'>, Pick<ReadQuestion, 'rowNoun'> {
  run: RunSql
  /** Words that name nothing. */
  ignored: readonly string[]
}

function createAnswer({ table, query, sql, rows, rowNoun, ignored, run }: FoundResult, probability: number): TableAnswer {
  const isNone = rows.length === 0 || (rows.length === 1 && rows[0]?.[0] === 0)
  const range = isNone ? describeRange({ table, query, run }) : undefined
  return {
    table,
    query,
    sql,
    rows,
    values: rows.length === 0 ? ['none'] : listResultValues(table, query, rows).map((value) => formatValue(table, query, value)),
    explanation: [
      describeQuery(table, query, rows),
      ...ignored.map((word) => `“${word}” was ${word === rowNoun ? 'taken to mean its rows' : 'left out'}.`),
      ...(range === undefined ? [] : [range]),
    ].join(' '),
    probability,
    ...(ignored.length > 0 ? { isUncertain: true as const } : {}),
  }
}

/** Whether the result is made of rows, not of the numbers of a column. */
const usesRows = ({ operation }: Query): boolean =>
  ['list', 'count', 'top', 'edge', 'exists', 'share'].includes(operation.kind) ||
  ('aggregate' in operation && operation.aggregate === 'count')

/**
 * Whether the question names what a lookup finds: the rows by whole values, or the column and one value in part. "Where are secrets
 * stored?" names neither in a glossary with several secrets: such questions are answered from text.
 */
function isNamed({ words }: Question, { operation, conditions }: Query, links: Links): boolean {
  if (operation.kind !== 'list') return true
  const wholeValues = new Set(links.conditions.flatMap(({ match, condition }) => (match === 'part' ? [] : listValues(condition))))
  const inPart = conditions.filter(
    (condition) => condition.kind === 'contains' || listValues(condition).some((value) => !wholeValues.has(value)),
  )
  const isColumnNamed = links.columns.some(
    ({ column, start, end }) => column === operation.column && words.slice(start, end).some(({ isStop }) => !isStop),
  )
  return inPart.every((condition) => isColumnNamed && listValues(condition).length === 1)
}

/** Counts the words that name a column of another table, but only mean the same as one of this table. */
function countSynonyms(own: Links, tables: readonly { links: Links }[]): number {
  const listNamed = ({ columns }: Links) => columns.filter(({ match }) => match !== 'synonym').map(({ start }) => start)
  const named = new Set(listNamed(own))
  const namedElsewhere = new Set(tables.flatMap(({ links }) => listNamed(links)))
  const synonyms = new Set(own.columns.filter(({ match }) => match === 'synonym').map(({ start }) => start))
  return [...synonyms].filter((start) => !named.has(start) && namedElsewhere.has(start)).length
}

const listValues = (condition: Condition): (string | number)[] => (condition.kind === 'equals' ? condition.values : [])

/** Returns the words of a question that no query can explain. This is fast, and most questions that are not about tables have some. */
export function listUnknownWords(question: Question, { columns, conditions }: Links): Word[] {
  const known = new Set<number>()
  const values = conditions.filter(({ condition }) => condition.kind === 'equals')
  const add = (start: number, end: number) => {
    for (let index = start; index < end; index++) known.add(index)
  }
  for (const { start, end } of [...columns, ...conditions, ...listLimits(question)]) add(start, end)
  // Two values of a column can be a pair, with the words between them.
  for (const first of values)
    for (const second of values) if (first.condition.column === second.condition.column) add(first.start, second.end)
  const isKnown = (word: Word, index: number) => word.isStop || known.has(index) || isOperationWord(word)
  return question.words.filter((word, index) => !isKnown(word, index))
}

/** Joins results that show other columns of the same rows. The rows are shown with the answer. */
function joinSelections<T extends RankedQuery>(results: readonly RankedResult<T>[]): RankedResult<T>[] {
  const joined = new Map<string, RankedResult<T>>()
  for (const result of results) {
    const { table, query } = result.best
    const selection = getSelection(query.operation)
    const key = selection ? JSON.stringify([table.name, table.title, query.conditions, selection]) : `result ${joined.size}`
    const known = joined.get(key)
    joined.set(key, known ? { ...known, probability: known.probability + result.probability } : result)
  }
  return [...joined.values()].sort((a, b) => b.probability - a.probability)
}

/** Returns what identifies the rows that an operation shows: the largest amount is in the row with the largest amount. */
function getSelection(operation: Operation): (string | number)[] | undefined {
  switch (operation.kind) {
    case 'list':
      return ['list']
    case 'top':
      return ['top', operation.key, operation.direction, operation.limit]
    case 'aggregate':
      return operation.aggregate === 'max' || operation.aggregate === 'min' ? ['top', operation.column, operation.aggregate, 1] : undefined
    case 'edge':
      return ['edge', operation.from, operation.position, operation.limit]
    case 'neighbor':
      return ['neighbor', operation.offset]
    case 'same':
      return ['same', operation.shared]
    default:
      return undefined
  }
}

/** Rows that are listed are called by their names. */
function listResultValues(table: TypedTable, { operation }: Query, rows: readonly SqlValue[][]): SqlValue[] {
  const shown = operation.kind === 'list' && operation.column === undefined ? (findNameColumn(table.columns) ?? 0) : 0
  return rows.flatMap((row) => (row[shown] === null || row[shown] === undefined ? [] : [row[shown]]))
}
