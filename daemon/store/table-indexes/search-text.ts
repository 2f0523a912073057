/** Full-text search of a table by words and, with a lower weight, by other words for them. */
import { type PassageRow, toRows } from '../arrow.ts'
import type { LanceConnection, Table } from '../lance.ts'

interface TextQuery {
  /** Must contain `id`. */
  columns: readonly string[]
  limit: number
  condition: string | undefined
  /** Terms that also match, with a lower score. A term of several words must match completely. */
  alternatives: readonly string[]
}

/** Low, so that passages with the words of the query come first. */
const ALTERNATIVE_WEIGHT = 0.3
/** A passage that is not among the best of one query is counted as if it did not match it. */
const CANDIDATES_PER_RESULT = 2

/** Best matches first, with `_score`. */
export async function searchText(
  { lancedb }: LanceConnection,
  table: Table,
  column: string,
  words: string,
  { columns, limit, condition, alternatives }: TextQuery,
): Promise<PassageRow[]> {
  const search = async (text: string, count: number, isComplete = false): Promise<PassageRow[]> => {
    const operator = isComplete ? lancedb.Operator.And : lancedb.Operator.Or
    let query = table.query().fullTextSearch(new lancedb.MatchQuery(text, column, { operator }), { columns: [column] })
    if (condition !== undefined) query = query.where(condition)
    return toRows(
      await query
        .select([...columns, '_score'])
        .limit(count)
        .toArrow(),
    )
  }
  if (alternatives.length === 0) return search(words, limit)
  // Not one boolean query: LanceDB 0.30 then scores every row that contains any of the words, instead of the best ones.
  const count = limit * CANDIDATES_PER_RESULT
  const single = alternatives.filter((term) => !term.includes(' '))
  const [found, ...others] = await Promise.all([
    search(words, count),
    ...(single.length > 0 ? [search(single.join(' '), count)] : []),
    ...alternatives.filter((term) => term.includes(' ')).map((term) => search(term, count, true)),
  ])
  return addScores(found, others.flat()).slice(0, limit)
}

function addScores(found: readonly PassageRow[], others: readonly PassageRow[]): PassageRow[] {
  const sums = new Map(found.map((row) => [row.id, row]))
  for (const row of others) {
    const known = sums.get(row.id)
    const score = ((known?._score as number | undefined) ?? 0) + ALTERNATIVE_WEIGHT * (row._score as number)
    sums.set(row.id, { ...(known ?? row), _score: score })
  }
  return [...sums.values()].sort((a, b) => (b._score as number) - (a._score as number))
}
