/** Queries for comparisons of runs: outcomes of all results, and answers of selected ones. */
import type { Reader } from '../store/database.ts'

export interface ResultPosition {
  position: number
  repeat: number
}

export interface Outcome extends ResultPosition {
  passed: boolean
  score: number | null
}

/** Reads from an index: the table rows contain long texts. */
export async function listOutcomes(reader: Reader, runId: string): Promise<Outcome[]> {
  const rows = await reader.all<ResultPosition & { passed: number; score: number | null }>(
    'SELECT position, repeat, passed, score FROM evaluation_results INDEXED BY figures_of_results WHERE run_id = ?',
    [runId],
  )
  return rows.map((row) => ({ ...row, passed: row.passed === 1 })).sort((a, b) => a.position - b.position || a.repeat - b.repeat)
}

/** Returns the answers in the order of the positions. */
export async function listAnswers(reader: Reader, runId: string, positions: readonly ResultPosition[]): Promise<(string | null)[]> {
  const pairs = JSON.stringify(positions.map(({ position, repeat }) => [position, repeat]))
  const rows = await reader.all<{ answer: string | null }>(
    `SELECT json_extract(r.details, '$.actual_output') AS answer FROM json_each(?) AS p
     LEFT JOIN evaluation_results AS r
       ON r.run_id = ? AND r.position = json_extract(p.value, '$[0]') AND r.repeat = json_extract(p.value, '$[1]')
     ORDER BY p.key`,
    [pairs, runId],
  )
  return rows.map(({ answer }) => answer)
}
