/** Migration 0031: OAuth sign-ins that wait for their redirect, which may reach another daemon. */
import type { Migration } from '../../migration.ts'

export const oauthSignIns: Migration = {
  name: '0031-oauth-sign-ins',
  async up(transaction) {
    await transaction.run(
      'CREATE TABLE oauth_sign_ins (state TEXT PRIMARY KEY, session TEXT NOT NULL, expires_at INTEGER NOT NULL) WITHOUT ROWID',
    )
  },
}
