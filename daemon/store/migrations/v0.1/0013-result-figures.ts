/** Migration 0013: an index over result figures, so that summaries do not read the texts of results. */
import type { Migration } from '../../migration.ts'

export const resultFigures: Migration = {
  name: '0013-result-figures',
  async up(transaction) {
    await transaction.run('CREATE INDEX figures_of_results ON evaluation_results (run_id, latency_ms, passed, score, tokens, cost, error)')
  },
}
