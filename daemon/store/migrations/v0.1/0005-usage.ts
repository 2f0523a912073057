/** Migration 0005: the usage ledger, its daily and monthly sums, and threshold notifications. */
import type { Migration } from '../../migration.ts'

export const usage: Migration = {
  name: '0005-usage',
  async up(transaction) {
    // Clustered by time, because most queries filter by time. The index finds entries by ID.
    await transaction.run(
      `CREATE TABLE usage_calls (began_at TEXT NOT NULL, id TEXT NOT NULL, status TEXT NOT NULL, kind TEXT NOT NULL, model_id TEXT
        NOT NULL, agent_id TEXT, rag_tool_id TEXT, prompt_template_id TEXT, evaluation_id TEXT, user_id TEXT, conversation_id TEXT,
        message_id TEXT, price_input REAL, price_output REAL, input_tokens INTEGER NOT NULL, output_tokens INTEGER NOT NULL,
        cached_tokens INTEGER NOT NULL, estimated INTEGER NOT NULL, cost REAL, settled_at TEXT, PRIMARY KEY (began_at, id)) WITHOUT
        ROWID`,
    )
    await transaction.run('CREATE UNIQUE INDEX usage_calls_by_id ON usage_calls (id)')
    await transaction.run("CREATE INDEX usage_calls_open ON usage_calls (id) WHERE status = 'open'")
    // An empty entity_type means everything, an empty entity_id all of that type. Models have their own column.
    for (const [table, time] of [
      ['usage_days', 'day'],
      ['usage_months', 'month'],
    ])
      await transaction.run(
        `CREATE TABLE ${table} (entity_type TEXT NOT NULL, entity_id TEXT NOT NULL, ${time} TEXT NOT NULL, model_id TEXT NOT NULL,
          calls INTEGER NOT NULL, input_tokens INTEGER NOT NULL, output_tokens INTEGER NOT NULL, cached_tokens INTEGER NOT NULL,
          unpriced_tokens INTEGER NOT NULL, cost REAL NOT NULL, PRIMARY KEY (entity_type, entity_id, ${time}, model_id)) WITHOUT
          ROWID`,
      )
    await transaction.run('CREATE INDEX usage_days_by_day ON usage_days (day)')
    await transaction.run(
      `CREATE TABLE usage_notices (threshold_id TEXT NOT NULL, metric TEXT NOT NULL, period TEXT NOT NULL, period_start TEXT NOT
        NULL, "limit" REAL NOT NULL, PRIMARY KEY (threshold_id, metric, period, period_start)) WITHOUT ROWID`,
    )
    // Thresholds are also deleted with the resource they watch, so caches compare this counter first.
    await transaction.run('CREATE TABLE usage_threshold_changes (total INTEGER NOT NULL)')
    await transaction.run('INSERT INTO usage_threshold_changes (total) VALUES (0)')
    const changed = 'UPDATE usage_threshold_changes SET total = total + 1'
    await transaction.run(`CREATE TRIGGER usage_thresholds_added AFTER INSERT ON usage_thresholds BEGIN ${changed}; END`)
    await transaction.run(`CREATE TRIGGER usage_thresholds_changed AFTER UPDATE ON usage_thresholds BEGIN ${changed}; END`)
    await transaction.run(
      `CREATE TRIGGER usage_thresholds_removed AFTER DELETE ON usage_thresholds BEGIN ${changed}; DELETE FROM usage_notices WHERE
        threshold_id = OLD.id; END`,
    )
  },
}
