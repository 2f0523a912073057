/** Brings the database to the newest schema. Released migrations are never edited. */
import { type Database, listColumn, runLater, type Transaction, type Value } from './database.ts'
import type { Migration } from './migration.ts'
import { records } from './migrations/v0.1/0001-records.ts'
import { knowledge } from './migrations/v0.1/0002-knowledge.ts'
import { conversations } from './migrations/v0.1/0003-conversations.ts'
import { models } from './migrations/v0.1/0004-models.ts'
import { usage } from './migrations/v0.1/0005-usage.ts'
import { webhooks } from './migrations/v0.1/0006-webhooks.ts'
import { evaluationRuns } from './migrations/v0.1/0007-evaluations.ts'
import { apiTools } from './migrations/v0.1/0008-api-tools.ts'
import { analytics } from './migrations/v0.1/0009-analytics.ts'
import { recordings } from './migrations/v0.1/0010-recordings.ts'
import { sourceAuth } from './migrations/v0.1/0011-source-auth.ts'
import { fileKeys } from './migrations/v0.1/0012-file-keys.ts'
import { resultFigures } from './migrations/v0.1/0013-result-figures.ts'
import { rerank } from './migrations/v0.2/0015-rerank.ts'
import { jobResumes } from './migrations/v0.2/0016-job-resumes.ts'
import { nameKeys } from './migrations/v0.2/0017-name-keys.ts'
import { deletedAgents } from './migrations/v0.2/0018-deleted-agents.ts'
import { estimatedUsage } from './migrations/v0.2/0019-estimated-usage.ts'
import { toolConfirmation } from './migrations/v0.2/0020-tool-confirmation.ts'
import { exposedTools } from './migrations/v0.2/0021-exposed-tools.ts'
import { allowedTools } from './migrations/v0.2/0022-allowed-tools.ts'
import { messageSearch } from './migrations/v0.2/0023-message-search.ts'
import { imageSupport } from './migrations/v0.2/0025-image-support.ts'
import { backups } from './migrations/v0.2/0026-backups.ts'
import { thresholdNames } from './migrations/v0.2/0027-threshold-names.ts'
import { mcpTools } from './migrations/v0.2/0028-mcp-tools.ts'
import { daemons } from './migrations/v0.2/0029-daemons.ts'
import { objectStorage } from './migrations/v0.2/0030-object-storage.ts'
import { oauthSignIns } from './migrations/v0.2/0031-oauth-sign-ins.ts'
import { reservations } from './migrations/v0.2/0033-reservations.ts'
import { currency } from './migrations/v0.2/0037-currency.ts'
import { conversationSummaries } from './migrations/v0.2/conversations/0035-conversation-summaries.ts'
import { memories } from './migrations/v0.2/conversations/0036-memories.ts'
import { chunkingVersion } from './migrations/v0.2/documents/0014-chunking-version.ts'
import { sourceDescriptions } from './migrations/v0.2/documents/0024-source-descriptions.ts'
import { places } from './migrations/v0.2/documents/0032-places.ts'
import { recognizedPages } from './migrations/v0.2/documents/0034-recognized-pages.ts'
import { retryWrite } from './remote/retry-write.ts'

export const MIGRATIONS: readonly Migration[] = [
  records,
  knowledge,
  conversations,
  models,
  usage,
  webhooks,
  evaluationRuns,
  apiTools,
  analytics,
  recordings,
  sourceAuth,
  fileKeys,
  resultFigures,
  chunkingVersion,
  rerank,
  jobResumes,
  nameKeys,
  deletedAgents,
  estimatedUsage,
  toolConfirmation,
  exposedTools,
  allowedTools,
  messageSearch,
  sourceDescriptions,
  imageSupport,
  backups,
  thresholdNames,
  mcpTools,
  daemons,
  objectStorage,
  oauthSignIns,
  places,
  reservations,
  recognizedPages,
  conversationSummaries,
  memories,
  currency,
]

/** Listed as a migration until the records of another database are copied completely. */
export const UNFINISHED_COPY = 'unfinished-copy'

/** Whether the database has no tables but the one that a connection to a server creates. */
export async function isBlank(database: Database): Promise<boolean> {
  return (await database.get("SELECT 1 FROM sqlite_master WHERE tbl_name <> 'commits' LIMIT 1")) === undefined
}

/**
 * Applies pending migrations. Throws if the database was written by a newer version. None waits for the disk: the next write
 * flushes them, and after a power cut the lost ones are applied again.
 */
export async function migrate(database: Database, migrations: readonly Migration[] = MIGRATIONS): Promise<void> {
  // Other daemons of a server may migrate at the same time. They end transactions that keep them waiting.
  const write: Database['write'] = database.isRemote ? (work) => retryWrite(database, work) : (work) => database.writeWithoutFlush(work)
  await write((transaction) => transaction.run('CREATE TABLE IF NOT EXISTS migrations (name TEXT PRIMARY KEY, applied_at TEXT NOT NULL)'))
  const applied = new Set(await listColumn(database, 'SELECT name FROM migrations'))
  if (applied.has(UNFINISHED_COPY))
    throw new Error(`Records were not copied completely to ${database.location}. Run the same cadre migrate command again.`)
  const unknown = [...applied].filter((name) => !migrations.some((migration) => migration.name === name))
  if (unknown.length > 0)
    throw new Error(
      `The database was written by a newer version of Cadre (it has ${unknown.join(', ')}). ` +
        'Install that version or a later one, or choose another CADRE_HOME.',
    )
  for (const migration of migrations) {
    if (applied.has(migration.name)) continue
    await write(async (transaction) => {
      // Another daemon of a shared database may have applied it meanwhile.
      if (await transaction.get('SELECT 1 FROM migrations WHERE name = ?', [migration.name])) return
      await migration.up(sendTogether(transaction))
      await transaction.run('INSERT INTO migrations (name, applied_at) VALUES (?, ?)', [migration.name, new Date().toISOString()])
    })
  }
}

/** No migration needs the number of changed rows, so a server receives its statements together. */
function sendTogether(transaction: Transaction): Transaction {
  if (!transaction.queue) return transaction
  const run = async (sql: string, values?: readonly Value[]) => {
    await runLater(transaction, sql, values)
    return 0
  }
  return { ...transaction, run }
}
