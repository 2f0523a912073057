/** Scores candidate queries with learned weights, runs the best ones and adds up those with the same result. */
import type { Candidate } from './candidate.ts'
import { describeResult } from './features.ts'
import { generateQueries } from './generate-queries.ts'
import type { Links } from './linking/links.ts'
import type { Demands } from './linking/question-demands.ts'
import type { Question } from './parse-question.ts'
import type { Query } from './query.ts'
import { writeSql } from './sql/write-sql.ts'
import type { SqlValue, TypedTable } from './typed-table.ts'

export type Weights = ReadonlyMap<string, number>
export type RunSql = (sql: string) => SqlValue[][]

export interface RankedQuery {
  table: TypedTable
  query: Query
  sql: string
  rows: SqlValue[][]
  score: number
  /** The number of words of the question that neither the query nor its operation explains. */
  unexplained: number
}

/** A result, the best query that has it, and the share of all queries that have it. */
export interface RankedResult<T extends RankedQuery = RankedQuery> {
  best: T
  probability: number
}

/** What the form of a question demands of queries, where it may be about anything. */
interface Restrictions {
  suits?: (query: Query) => boolean
  demands?: Demands
}

const sumWeights = (features: readonly string[], weights: Weights) =>
  features.reduce((sum, feature) => sum + (weights.get(feature) ?? 0), 0)

/** Returns the candidates with the highest scores, best first. */
export function selectCandidates(
  question: Question,
  table: TypedTable,
  links: Links,
  weights: Weights,
  limit: number,
  { suits = () => true, demands }: Restrictions = {},
): (Candidate & { score: number })[] {
  const scored: (Candidate & { score: number })[] = []
  for (const candidate of generateQueries(question, table, links, demands)) {
    if (!suits(candidate.query)) continue
    let score = sumWeights(candidate.features, weights)
    for (const part of candidate.parts) {
      part.score ??= sumWeights(part.features, weights)
      score += part.score
    }
    scored.push({ ...candidate, query: removeRepeated(candidate.query), score })
  }
  return scored.sort((a, b) => b.score - a.score).slice(0, limit)
}

/** "Owing" and "unpaid" state the same condition. */
const removeRepeated = ({ conditions, operation }: Query): Query => {
  const keys = conditions.map((condition) => JSON.stringify(condition))
  return { operation, conditions: conditions.filter((_, index) => keys.indexOf(keys[index] ?? '') === index) }
}

/** Runs the best candidates. Those that fail have no result. */
export function rankQueries(
  question: Question,
  table: TypedTable,
  links: Links,
  weights: Weights,
  limit: number,
  run: RunSql,
  restrictions?: Restrictions,
): RankedQuery[] {
  return selectCandidates(question, table, links, weights, limit, restrictions)
    .map(({ query, score, unexplained }) => {
      const sql = writeSql(table, query)
      const rows = runSafely(run, sql)
      return { table, query, sql, rows, unexplained, score: score + sumWeights(describeResult(question, query, rows), weights) }
    })
    .sort((a, b) => b.score - a.score)
}

function runSafely(run: RunSql, sql: string): SqlValue[][] {
  try {
    return run(sql)
  } catch {
    // SQLite has limits, for example for the length of a value.
    return []
  }
}

/** Identifies a result: its values in any order, or groups with their numbers. */
export function getResultKey({ operation }: Query, rows: readonly (readonly SqlValue[])[]): string {
  const width = (operation.kind === 'group' || operation.kind === 'contrast') && !operation.direction ? 3 : 1
  const round = (value: SqlValue) => (typeof value === 'number' ? Math.round(value * 1e6) / 1e6 : value)
  return JSON.stringify(rows.map((row) => row.slice(0, width).map(round).join('\0')).sort())
}

/** Joins queries with the same result. The probability of a result is that of all its queries. */
export function groupResults<T extends RankedQuery>(ranked: readonly T[]): RankedResult<T>[] {
  const [top] = ranked
  if (!top) return []
  const groups = new Map<string, { best: T; weight: number }>()
  let total = 0
  for (const item of ranked) {
    const weight = Math.exp(item.score - top.score)
    total += weight
    const key = getResultKey(item.query, item.rows)
    const group = groups.get(key)
    if (group) group.weight += weight
    else groups.set(key, { best: item, weight })
  }
  return [...groups.values()]
    .map(({ best, weight }) => ({ best, probability: weight / total }))
    .sort((a, b) => b.probability - a.probability)
}
