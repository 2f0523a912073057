/** Migration 0034: the recognised text of scanned pages, by content and languages. Scans that could not be read are read again. */
import type { Migration } from '../../../migration.ts'

export const recognizedPages: Migration = {
  name: '0034-recognized-pages',
  async up(transaction) {
    await transaction.run(
      `CREATE TABLE recognized_pages (content_hash TEXT NOT NULL, languages TEXT NOT NULL, page INTEGER NOT NULL, text TEXT NOT NULL,
       confidence INTEGER NOT NULL, problem TEXT, PRIMARY KEY (content_hash, languages, page)) WITHOUT ROWID`,
    )
    await transaction.run(
      `UPDATE documents SET status = 'waiting', error = NULL
       WHERE status = 'failed' AND error LIKE '%Run text recognition (OCR) on it first.'`,
    )
  },
}
