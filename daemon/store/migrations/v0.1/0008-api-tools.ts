/** Migration 0008: argument locations and body format of API tools. */
import type { Migration } from '../../migration.ts'

export const apiTools: Migration = {
  name: '0008-api-tools',
  async up(transaction) {
    await transaction.run("ALTER TABLE api_tools ADD COLUMN locations TEXT NOT NULL DEFAULT '{}'")
    await transaction.run("ALTER TABLE api_tools ADD COLUMN body_format TEXT NOT NULL DEFAULT 'json'")
    await transaction.run('CREATE INDEX api_tools_by_body_format ON api_tools (body_format, created_at, id)')
  },
}
