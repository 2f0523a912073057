/** Step 0013: the figures of results without their texts, which are most of a result: long runs are counted while they go on. */
import type { Migration } from '../migration.ts'

export const resultFigures: Migration = {
  name: '0013-result-figures',
  async up(transaction) {
    await transaction.run('CREATE INDEX figures_of_results ON evaluation_results (run_id, latency_ms, passed, score, tokens, cost, error)')
  },
}
