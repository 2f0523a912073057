/** Migration 0029: the daemons that share a database, and what each of them works on. */
import type { Migration } from '../../migration.ts'

export const daemons: Migration = {
  name: '0029-daemons',
  async up(transaction) {
    await transaction.run('CREATE TABLE daemons (id TEXT PRIMARY KEY, alive_until INTEGER NOT NULL) WITHOUT ROWID')
    // The clock of the server, because those of the daemons may differ.
    await transaction.run("CREATE VIEW live_daemons AS SELECT id FROM daemons WHERE alive_until > unixepoch('subsec') * 1000")
    await transaction.run(
      'CREATE TABLE leases (name TEXT PRIMARY KEY, holder TEXT NOT NULL, fence INTEGER NOT NULL, state TEXT) WITHOUT ROWID',
    )
    await transaction.run('CREATE INDEX leases_by_holder ON leases (holder)')
    await transaction.run('CREATE TABLE rate_limits (key TEXT PRIMARY KEY, used INTEGER NOT NULL, ends INTEGER NOT NULL) WITHOUT ROWID')
    await transaction.run('CREATE TABLE vault (fingerprint TEXT NOT NULL)')
    await transaction.run(`CREATE TABLE daemon_requests (id TEXT PRIMARY KEY, receiver TEXT NOT NULL, sender TEXT NOT NULL,
      kind TEXT NOT NULL, target TEXT NOT NULL, data TEXT NOT NULL, response TEXT) WITHOUT ROWID`)
    await transaction.run('CREATE INDEX daemon_requests_by_receiver ON daemon_requests (receiver) WHERE response IS NULL')
    await transaction.run(`CREATE TABLE reply_events (message_id TEXT NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL,
      events TEXT NOT NULL, PRIMARY KEY (message_id, first)) WITHOUT ROWID`)
    // Null in a file, which only one daemon uses.
    await transaction.run('ALTER TABLE replies_under_way ADD COLUMN owner TEXT')
    await transaction.run('ALTER TABLE usage_calls ADD COLUMN owner TEXT')
  },
}
