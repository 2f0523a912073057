/** Migration 0024: descriptions of knowledge sources and their folders. */
import type { Migration } from '../../../migration.ts'

export const sourceDescriptions: Migration = {
  name: '0024-source-descriptions',
  async up(transaction) {
    await transaction.run("ALTER TABLE knowledge_sources ADD COLUMN description TEXT NOT NULL DEFAULT ''")
    await transaction.run("ALTER TABLE knowledge_sources ADD COLUMN folder_descriptions TEXT NOT NULL DEFAULT '{}'")
    await transaction.run('CREATE INDEX knowledge_sources_by_description ON knowledge_sources (description, created_at, id)')
  },
}
