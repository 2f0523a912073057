/** Migration 0032: what the pages of a document are (slides, sheets), and what could not be read of it. */
import type { Migration } from '../../../migration.ts'

export const places: Migration = {
  name: '0032-places',
  async up(transaction) {
    await transaction.run('ALTER TABLE documents ADD COLUMN places TEXT')
    await transaction.run('ALTER TABLE documents ADD COLUMN notice TEXT')
  },
}
