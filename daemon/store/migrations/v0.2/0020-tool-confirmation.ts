/** Migration 0020: calls of existing API tools that may change something require confirmation. */
import type { Migration } from '../../migration.ts'

export const toolConfirmation: Migration = {
  name: '0020-tool-confirmation',
  async up(transaction) {
    // The default was false, so that a stored false does not tell whether an admin decided it.
    await transaction.run("UPDATE api_tools SET requires_confirmation = 1 WHERE method <> 'GET'")
  },
}
