/** Migration 0009: daily conversation figures, maintained by triggers on messages. */
import type { Migration } from '../../migration.ts'

/** All values are integers (costs in billionths), so that subtracting a row restores the exact sum. */
const COUNTED = {
  messages: () => '1',
  said: (row: string) => `(${row}.role = 'user')`,
  tokens: (row: string) => `coalesce(json_extract(${row}.details, '$.usage.total_tokens'), 0)`,
  unpriced_tokens: (row: string) =>
    `iif(json_extract(${row}.details, '$.cost') IS NULL, coalesce(json_extract(${row}.details, '$.usage.total_tokens'), 0), 0)`,
  cost_billionths: (row: string) => `CAST(round(coalesce(json_extract(${row}.details, '$.cost'), 0) * 1e9) AS INTEGER)`,
  tool_calls: (row: string) => `coalesce(json_array_length(${row}.details, '$.tool_calls'), 0)`,
  replies: (row: string) => `iif(${whole(row)}, 1, 0)`,
  latency_ms: (row: string) => `iif(${whole(row)}, ${latency(row)}, 0)`,
}
const latency = (row: string) => `CAST(round(json_extract(${row}.details, '$.latency_ms')) AS INTEGER)`
/** Completed replies only: the latency of a failed reply says nothing about speed. */
const whole = (row: string) =>
  `(${row}.role = 'assistant' AND json_extract(${row}.details, '$.latency_ms') IS NOT NULL AND coalesce(json_extract(${row}.details,
    '$.finish_reason'), 'error') NOT IN ('aborted', 'error', 'interrupted'))`

const columns = Object.keys(COUNTED)
const values = (row: string) => Object.values(COUNTED).map((value) => value(row))
const changed = (sign: '+' | '-', row: string) =>
  `UPDATE conversation_days SET ${columns.map((column, index) => `${column} = ${column} ${sign} ${values(row)[index]}`).join(', ')}
    WHERE day = substr(${row}.created_at, 1, 10) AND conversation_id = ${row}.conversation_id`
const timed = (row: string) =>
  `INSERT INTO reply_times (latency_ms, message_id, created_at, conversation_id) SELECT ${latency(row)}, ${row}.id,
    ${row}.created_at, ${row}.conversation_id WHERE ${whole(row)}`
const untimed = `DELETE FROM reply_times WHERE latency_ms = ${latency('OLD')} AND message_id = OLD.id`

export const analytics: Migration = {
  name: '0009-analytics',
  async up(transaction) {
    await transaction.run(
      `CREATE TABLE conversation_days (day TEXT NOT NULL, conversation_id TEXT NOT NULL,
        ${columns.map((column) => `${column} INTEGER NOT NULL`).join(', ')}, PRIMARY KEY (day, conversation_id)) WITHOUT ROWID`,
    )
    await transaction.run(
      `CREATE TABLE reply_times (latency_ms INTEGER NOT NULL, message_id TEXT NOT NULL, created_at TEXT NOT NULL, conversation_id
        TEXT NOT NULL, PRIMARY KEY (latency_ms, message_id)) WITHOUT ROWID`,
    )
    await transaction.run('CREATE INDEX messages_by_time ON messages (created_at)')
    await transaction.run(
      `INSERT INTO conversation_days SELECT substr(m.created_at, 1, 10), m.conversation_id, ${values('m')
        .map((value) => `sum(${value})`)
        .join(', ')} FROM messages m GROUP BY 1, 2`,
    )
    await transaction.run(timed('m').replace(' WHERE', ' FROM messages m WHERE'))
    await transaction.run(
      `CREATE TRIGGER messages_measured AFTER INSERT ON messages BEGIN INSERT INTO conversation_days VALUES (substr(NEW.created_at,
        1, 10), NEW.conversation_id, ${values('NEW').join(', ')}) ON CONFLICT DO UPDATE SET
        ${columns.map((column) => `${column} = ${column} + excluded.${column}`).join(', ')}; ${timed('NEW')}; END`,
    )
    await transaction.run(
      `CREATE TRIGGER messages_measured_again AFTER UPDATE OF details ON messages BEGIN ${changed('-', 'OLD')};
        ${changed('+', 'NEW')}; ${untimed}; ${timed('NEW')}; END`,
    )
    await transaction.run(
      `CREATE TRIGGER messages_unmeasured AFTER DELETE ON messages BEGIN ${changed('-', 'OLD')}; DELETE FROM conversation_days WHERE
        day = substr(OLD.created_at, 1, 10) AND conversation_id = OLD.conversation_id AND messages = 0; ${untimed}; END`,
    )
  },
}
