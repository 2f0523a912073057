/** What a comparison of two runs reads: figures of all results, and texts of those that differ. */
import type { Reader } from '../store/database.ts'

export interface ResultPosition {
  position: number
  repeat: number
}

export interface Outcome extends ResultPosition {
  passed: boolean
  score: number | null
}

/** In order. From an index: the table itself holds all the texts. */
export async function listOutcomes(reader: Reader, runId: string): Promise<Outcome[]> {
  const rows = await reader.all<ResultPosition & { passed: number; score: number | null }>(
    'SELECT position, repeat, passed, score FROM evaluation_results INDEXED BY figures_of_results WHERE run_id = ?',
    [runId],
  )
  return rows.map((row) => ({ ...row, passed: row.passed === 1 })).sort((a, b) => a.position - b.position || a.repeat - b.repeat)
}

/** What was answered, in the order of the places. */
export async function listAnswers(reader: Reader, runId: string, places: readonly ResultPosition[]): Promise<(string | null)[]> {
  const wanted = JSON.stringify(places.map(({ position, repeat }) => [position, repeat]))
  const rows = await reader.all<{ answer: string | null }>(
    "SELECT json_extract(r.details, '$.actual_output') AS answer FROM json_each(?) AS w LEFT JOIN evaluation_results AS r ON r.run_id = ? AND r.position = json_extract(w.value, '$[0]') AND r.repeat = json_extract(w.value, '$[1]') ORDER BY w.key",
    [wanted, runId],
  )
  return rows.map(({ answer }) => answer)
}
