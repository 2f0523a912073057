/** Migration 0019: sums of estimated tokens, and which results of evaluations have estimated usage. */
import type { Migration } from '../../migration.ts'

const ORIGINS = ['agent', 'rag_tool', 'prompt_template', 'evaluation', 'user']
const SUMS = [
  { table: 'usage_days', time: 'day', length: 10 },
  { table: 'usage_months', time: 'month', length: 7 },
]

export const estimatedUsage: Migration = {
  name: '0019-estimated-usage',
  async up(transaction) {
    const origins = ORIGINS.map((type) => `${type}_id`).join(', ')
    // One pass over the calls, which may be millions.
    await transaction.run(
      `CREATE TABLE estimated_calls AS SELECT substr(began_at, 1, 10) AS day, model_id, ${origins}, sum(input_tokens + output_tokens)
        AS tokens FROM usage_calls WHERE estimated = 1 AND status <> 'open' GROUP BY 1, 2, ${origins}`,
    )
    const entities = [
      { type: '', id: "''", condition: '' },
      ...ORIGINS.flatMap((type) => [`''`, `${type}_id`].map((id) => ({ type, id, condition: ` WHERE ${type}_id IS NOT NULL` }))),
    ]
    for (const { table, time, length } of SUMS) {
      await transaction.run(`ALTER TABLE ${table} ADD COLUMN estimated_tokens INTEGER NOT NULL DEFAULT 0`)
      for (const { type, id, condition } of entities)
        await transaction.run(
          `UPDATE ${table} SET estimated_tokens = found.tokens FROM (SELECT substr(day, 1, ${length}) AS time, model_id, ${id} AS
            entity_id, sum(tokens) AS tokens FROM estimated_calls${condition} GROUP BY 1, 2, 3) AS found WHERE entity_type = '${type}'
            AND ${table}.entity_id = found.entity_id AND ${time} = found.time AND ${table}.model_id = found.model_id`,
        )
    }
    await transaction.run('DROP TABLE estimated_calls')
    // Results of earlier versions do not say whether their usage is an estimate.
    await transaction.run('ALTER TABLE evaluation_results ADD COLUMN estimated INTEGER NOT NULL DEFAULT 0')
    await transaction.run('CREATE INDEX estimated_results ON evaluation_results (run_id) WHERE estimated = 1')
  },
}
