/** Migration 0004: model capabilities and access to the private network. */
import { EMBEDDED_MODEL_ID } from '../../../../src/contract/families/models.ts'
import type { Migration } from '../../migration.ts'

export const models: Migration = {
  name: '0004-models',
  async up(transaction) {
    await transaction.run('ALTER TABLE models ADD COLUMN context_window INTEGER')
    await transaction.run('ALTER TABLE models ADD COLUMN supports_tools INTEGER')
    // Existing models keep working.
    await transaction.run('ALTER TABLE models ADD COLUMN allow_private INTEGER NOT NULL DEFAULT 1')
    for (const column of ['context_window', 'supports_tools'])
      await transaction.run(`CREATE INDEX models_by_${column} ON models (${column}, created_at, id)`)
    await transaction.run('UPDATE models SET supports_tools = 0 WHERE id = ?', [EMBEDDED_MODEL_ID])
  },
}
