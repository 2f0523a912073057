/** Migration 0007: evaluation runs and results. */
import type { Migration } from '../../migration.ts'

export const evaluationRuns: Migration = {
  name: '0007-evaluations',
  async up(transaction) {
    for (const [column, value] of [
      ['concurrency', 4],
      ['repeats', 1],
    ]) {
      await transaction.run(`ALTER TABLE evaluations ADD COLUMN ${column} INTEGER NOT NULL DEFAULT ${value}`)
      await transaction.run(`CREATE INDEX evaluations_by_${column} ON evaluations (${column}, created_at, id)`)
    }
    await transaction.run(
      `CREATE TABLE evaluation_runs (id TEXT PRIMARY KEY, evaluation_id TEXT NOT NULL, status TEXT NOT NULL, created_at TEXT NOT
        NULL, started_at TEXT, finished_at TEXT, error TEXT, concurrency INTEGER NOT NULL, repeats INTEGER NOT NULL, total INTEGER
        NOT NULL, caller TEXT NOT NULL, configuration TEXT NOT NULL, test_cases TEXT NOT NULL, summary TEXT) WITHOUT ROWID`,
    )
    await transaction.run('CREATE INDEX runs_of_evaluation ON evaluation_runs (evaluation_id, created_at, id)')
    await transaction.run("CREATE INDEX unfinished_runs ON evaluation_runs (created_at, id) WHERE status IN ('queued', 'running')")
    await transaction.run(
      `CREATE TABLE evaluation_results (run_id TEXT NOT NULL, position INTEGER NOT NULL, repeat INTEGER NOT NULL, passed INTEGER NOT
        NULL, score REAL, latency_ms REAL, tokens INTEGER NOT NULL, cost REAL, error TEXT, details TEXT NOT NULL, PRIMARY KEY
        (run_id, position, repeat)) WITHOUT ROWID`,
    )
    await transaction.run('CREATE INDEX results_by_outcome ON evaluation_results (run_id, passed, position, repeat)')
  },
}
