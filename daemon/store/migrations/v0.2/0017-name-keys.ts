/** Migration 0017: keys by which names are sorted. */
import type { Migration } from '../../migration.ts'
import { createSortKey } from '../../sort-key.ts'

const FAMILIES = [
  'models',
  'prompt_templates',
  'knowledge_sources',
  'rag_tools',
  'retrieval_tools',
  'api_tools',
  'agents',
  'evaluations',
  'tokens',
]

export const nameKeys: Migration = {
  name: '0017-name-keys',
  async up(transaction) {
    for (const table of [...FAMILIES, 'documents']) {
      await transaction.run(`ALTER TABLE ${table} ADD COLUMN name_key TEXT NOT NULL DEFAULT ''`)
      const rows = await transaction.all<{ id: string; name: string }>(`SELECT id, name FROM ${table}`)
      for (const { id, name } of rows) await transaction.run(`UPDATE ${table} SET name_key = ? WHERE id = ?`, [createSortKey(name), id])
    }
    for (const table of FAMILIES) {
      await transaction.run(`DROP INDEX ${table}_by_name`)
      await transaction.run(`CREATE INDEX ${table}_by_name ON ${table} (name_key, created_at, id)`)
    }
    // The index documents_by_name also keeps names unique.
    await transaction.run('CREATE INDEX documents_of_source_by_name ON documents (knowledge_source_id, name_key, created_at, id)')
  },
}
