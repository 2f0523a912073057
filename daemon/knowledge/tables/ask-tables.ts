/** Answers a question from the tables of sources. */
import { answerTableQuestion, type QueryableTable, type TableAnswer } from '../../tables/answer-table-question.ts'
import { isMoney } from '../../tables/cells/column-roles.ts'
import { formatRow } from '../../tables/cells/format-value.ts'
import type { Computation, ComputedAnswer } from '../../tables/computation.ts'
import { asksForComputation, describeProblem } from '../../tables/describe-problem.ts'
import { nameResult } from '../../tables/describe-query.ts'
import { subtractColumns } from '../../tables/linking/difference-column.ts'
import { addInterval, hasDuration } from '../../tables/linking/interval-column.ts'
import { listPluralTitles, markReferences } from '../../tables/linking/links.ts'
import { asksForIncome } from '../../tables/linking/other-money.ts'
import { multiplyPrices } from '../../tables/linking/product-column.ts'
import { asksForText, removeFiller } from '../../tables/linking/question-form.ts'
import { areSameRows } from '../../tables/linking/role-words.ts'
import { parseQuestion } from '../../tables/parse-question.ts'
import { listUsedColumns } from '../../tables/query.ts'
import type { Weights } from '../../tables/rank-queries.ts'
import { describeMeaning, type Meaning, replacePhrases, usesMeaning } from '../../tables/similarity/choose-meanings.ts'
import { listOmissions, type Omission } from '../../tables/similarity/omitted-words.ts'
import { findUnclearPhrases, type UnclearPhrase } from '../../tables/similarity/unclear-words.ts'
import { writeRowCountSql, writeRowsSql } from '../../tables/sql/write-rows-sql.ts'
import { createStateConditions, namesState } from '../../tables/states/link-states.ts'
import { createStatusConditions, namesStatus } from '../../tables/states/link-statuses.ts'
import { areSynonyms } from '../../tables/table-synonyms.ts'
import type { CellValue, SqlValue } from '../../tables/typed-table.ts'
import { MONEY_STEMS } from '../../tables/vocabulary.ts'
import { writeCompounds } from '../../tables/wording/compound-words.ts'
import { nameDates } from '../../tables/wording/named-dates.ts'
import { namePeriods, namesPeriod } from '../../tables/wording/relative-periods.ts'
import type { StoredTable, TableStore } from './table-store.ts'
import { TableWordCache, type TableWords } from './table-words.ts'

/** Tables that share most words with the question are tried. */
const MAX_TABLES = 3
/** Unknown words of the question are compared with the names of these tables. */
const MAX_COMPARED_TABLES = 8
/** Tables that share fewer words with the question than the best one are not tried. */
const MAX_OVERLAP_GAP = 2
const MAX_RUNS = 20
/** Running a query over a large table takes a while. */
const MAX_RUNS_OF_LARGE_TABLES = 6
const LARGE_ROW_COUNT = 50_000
/** Lower than for tables alone, because the query must also explain the words of the question. */
const MIN_PROBABILITY = 0.5
/** One word of a question may name the rows in another way than the document does. */
const MAX_UNEXPLAINED = 0
const MAX_SHOWN_ROWS = 5
/** Longer values are sentences, of which a question must contain half. */
const MAX_NAME_WORDS = 5

/** With words that name nothing, if the question may be answered when their meaning is known. */
export interface TableReply extends ComputedAnswer {
  unclear?: UnclearPhrase[]
}

interface TableOfFile {
  file: TableStore
  table: StoredTable
}

export function askTables(
  asked: string,
  files: readonly TableStore[],
  weights: Weights,
  cache = new TableWordCache(),
  now = new Date(),
  meanings: readonly Meaning[] = [],
): TableReply {
  const today = formatDay(now)
  // Once, because a question may be asked several times.
  const stored = files.flatMap((file) => file.listTables().map((table) => ({ file, table })))
  const ask = (text: string) => askOnce(text, stored, weights, cache, today, meanings)
  const question = writeTableCompounds(replacePhrases(nameQuestionPeriods(asked, stored, today), meanings), stored, cache)
  const { reply, omissions } = ask(question)
  // A question that is not understood may have words that say nothing.
  for (const { text, note, columns } of omissions()) {
    const isMeant = ({ table, usedColumns }: Computation) =>
      columns === undefined || [...(columns.get(table) ?? [-1])].every((column) => usedColumns.includes(column))
    const { computations } = ask(text).reply
    // That there are none is only certain if every word was understood.
    if (computations.length === 0 || !computations.every((each) => each.rowCount > 0 && isMeant(each))) continue
    const uncertain = computations.map((each) => ({
      ...each,
      interpretation: `${each.interpretation} ${note}`,
      isUncertain: true as const,
    }))
    return { computations: uncertain, ...(reply.unclear ? { unclear: reply.unclear } : {}) }
  }
  return reply
}

/** `omissions` lists what the question may be without words that were not understood. */
function askOnce(
  question: string,
  stored: readonly TableOfFile[],
  weights: Weights,
  cache: TableWordCache,
  today: string,
  meanings: readonly Meaning[],
): { reply: TableReply; omissions: () => Omission[] } {
  const parsed = parseQuestion(removeFiller(question), today)
  const nothing = { reply: { computations: [] }, omissions: () => [] }
  if (asksForText(parsed)) return nothing
  const words = parsed.words.filter(({ isStop, number }) => !isStop && number === undefined).map(({ text }) => text)
  const numbers = [...new Set(parsed.numbers.map(({ value }) => value))]
  const asksForMoney = asksForIncome(question) || parsed.words.some(({ stem }) => MONEY_STEMS.has(stem))
  const [hasState, hasStatus] = [namesState(parsed), namesStatus(parsed)]
  const candidates = stored.map(({ file, table }) => {
    const known = cache.get(file.path, table, () => file.listValues(table))
    const values = (known.values ?? file.findValues(table, words, numbers)).filter((value) => isNamed(value, parsed.stems))
    const isOfMoney = asksForMoney && table.columns.some(isMoney)
    const isOfState =
      (hasState && createStateConditions(parsed, table.columns, [], values).length > 0) ||
      (hasStatus && createStatusConditions(parsed, table.columns, [], values).some(({ isState }) => isState))
    const overlap = countSharedWords(parsed.stems, known, values) + (isOfMoney ? 1 : 0) + (isOfState ? 2 : 0)
    return { file, table, values, overlap }
  })
  const largest = Math.max(0, ...candidates.map(({ overlap }) => overlap))
  if (largest === 0) return nothing
  const byOverlap = candidates.sort((a, b) => b.overlap - a.overlap)
  const best = byOverlap.filter(({ overlap }) => overlap > 0 && overlap >= largest - MAX_OVERLAP_GAP).slice(0, MAX_TABLES)
  const titles = new Set(candidates.flatMap(({ table }) => listPluralTitles(table)))
  const hasOther = best.some(({ table, values }) => hasDuration(parsed, table, values))
  const tables = best.map(
    ({ file, table, values }): QueryableTable<StoredTable> => ({
      table: subtractColumns(parsed, multiplyPrices(parsed, addInterval(parsed, markReferences(table, titles), values, hasOther))),
      values,
      run: (sql) => file.database.prepare(sql).raw().all() as SqlValue[][],
    }),
  )
  const isLarge = best.some(({ table }) => table.rowCount > LARGE_ROW_COUNT)
  const found = answerTableQuestion(question, tables, weights, {
    maxUnexplained: MAX_UNEXPLAINED,
    minProbability: MIN_PROBABILITY,
    maxRuns: isLarge ? MAX_RUNS_OF_LARGE_TABLES : MAX_RUNS,
    today,
  })
  const answers = found.filter(({ table, query }) => meanings.every((meaning) => usesMeaning(table, query, meaning)))
  const problem = answers.length === 0 ? describeProblem(question, tables, today) : undefined
  // A question for a computation that is not about these tables has a problem with none of them.
  const isUnclear = answers.length === 0 && (problem !== undefined || !asksForComputation(question))
  const others = byOverlap.slice(0, MAX_COMPARED_TABLES)
  const unclear = isUnclear && meanings.length === 0 ? findUnclearPhrases(question, tables, others, today) : []
  const reply = {
    computations: answers.map((answer) =>
      toComputation(answer, tables.find(({ table }) => table === answer.table) as QueryableTable<StoredTable>, meanings),
    ),
    ...(problem ? { problem: { document: problem.table.document, text: problem.text, missing: problem.missing } } : {}),
    ...(unclear.length > 0 ? { unclear } : {}),
  }
  return { reply, omissions: () => (isUnclear ? listOmissions(question, tables, byOverlap, today) : []) }
}

/** The day on the clock of the machine. */
const formatDay = (date: Date): string =>
  [date.getFullYear(), date.getMonth() + 1, date.getDate()].map((part) => String(part).padStart(2, '0')).join('-')

/** Names periods such as "last month", unless a column is called so. */
function nameQuestionPeriods(question: string, stored: readonly TableOfFile[], today: string): string {
  const isHeader = () => stored.some(({ table }) => table.columns.some(({ header }) => namesPeriod(header)))
  return nameDates(namesPeriod(question) && !isHeader() ? namePeriods(question, today) : question, today)
}

function writeTableCompounds(question: string, stored: readonly TableOfFile[], cache: TableWordCache): string {
  const known = stored.map(({ file, table }) => cache.get(file.path, table, () => file.listValues(table)))
  const names = new Set(known.flatMap(({ title, headers }) => [...title, ...headers]))
  return writeCompounds(question, names, (name) => known.find(({ compounds }) => compounds.has(name))?.compounds.get(name))
}

const isNamed = ({ stems: cell }: CellValue, stems: ReadonlySet<string>): boolean =>
  cell.length <= MAX_NAME_WORDS || cell.filter((stem) => stems.has(stem)).length >= cell.length / 2

/** Counts the words of a question that are in the headers or the values of a table. Those of its title count twice. */
function countSharedWords(stems: ReadonlySet<string>, { title, headers }: TableWords, values: readonly CellValue[]): number {
  const known = new Set(headers)
  for (const { stems: cell } of values) for (const stem of cell) if (stems.has(stem)) known.add(stem)
  const isKnown = (stem: string) => known.has(stem) || headers.some((header) => areSynonyms(header, stem))
  const isTitle = (stem: string) => title.has(stem) || [...title].some((word) => areSameRows(word, stem))
  return [...stems].reduce((sum, stem) => sum + (isTitle(stem) ? 2 : 0) + (isKnown(stem) ? 1 : 0), 0)
}

function toComputation(
  { query, sql, rows, values, explanation, isUncertain }: TableAnswer,
  { table, run }: QueryableTable<StoredTable>,
  meanings: readonly Meaning[],
): Computation {
  return {
    values,
    cells: rows.map((row) => formatRow(table, query, row)),
    result: rows,
    resultHeader: nameResult(table, query),
    sql,
    table: table.name,
    document: table.document,
    documentId: table.documentId,
    contentHash: table.contentHash,
    interpretation: [explanation, ...meanings.map(describeMeaning)].join(' '),
    ...(isUncertain || meanings.length > 0 ? { isUncertain: true as const } : {}),
    header: table.columns.map(({ header }, index) => header || `Column ${index + 1}`),
    usedColumns: listUsedColumns(query),
    rowsUsed: run(writeRowsSql(table, query, rows, MAX_SHOWN_ROWS)),
    rowCount: Number(run(writeRowCountSql(table, query, rows))[0]?.[0] ?? 0),
    tableRowCount: table.rowCount,
  }
}
