/** Migration 0025: whether a model reads images. */
import { EMBEDDED_MODEL_ID } from '../../../../src/contract/families/models.ts'
import type { Migration } from '../../migration.ts'

export const imageSupport: Migration = {
  name: '0025-image-support',
  async up(transaction) {
    await transaction.run('ALTER TABLE models ADD COLUMN supports_images INTEGER')
    await transaction.run('CREATE INDEX models_by_supports_images ON models (supports_images, created_at, id)')
    await transaction.run('UPDATE models SET supports_images = 0 WHERE id = ?', [EMBEDDED_MODEL_ID])
  },
}
