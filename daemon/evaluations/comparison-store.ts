/** Queries for comparisons of runs: outcomes of all results, and answers of selected ones. */
import type { DatabaseReader } from '../store/database.ts'
import type { Result } from './run-store.ts'

export type Outcome = Pick<Result, 'position' | 'repeat' | 'passed' | 'score'>

/** Reads from an index: the table rows contain long texts. */
export async function listOutcomes(reader: DatabaseReader, runId: string): Promise<Outcome[]> {
  const rows = await reader.all<Omit<Outcome, 'passed'> & { passed: number }>(
    'SELECT position, repeat, passed, score FROM evaluation_results INDEXED BY figures_of_results WHERE run_id = ?',
    [runId],
  )
  return rows.map((row) => ({ ...row, passed: row.passed === 1 })).sort((a, b) => a.position - b.position || a.repeat - b.repeat)
}

/** Returns the answers in the order of the outcomes. */
export async function listAnswers(reader: DatabaseReader, runId: string, outcomes: readonly Outcome[]): Promise<(string | null)[]> {
  const pairs = JSON.stringify(outcomes.map(({ position, repeat }) => [position, repeat]))
  const rows = await reader.all<{ answer: string | null }>(
    `SELECT json_extract(r.details, '$.actual_output') AS answer FROM json_each(?) AS p
     LEFT JOIN evaluation_results AS r
       ON r.run_id = ? AND r.position = json_extract(p.value, '$[0]') AND r.repeat = json_extract(p.value, '$[1]')
     ORDER BY p.key`,
    [pairs, runId],
  )
  return rows.map(({ answer }) => answer)
}
