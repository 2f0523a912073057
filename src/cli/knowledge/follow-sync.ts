/** Starts a sync, follows it with a progress bar and formats its outcome. */
import { call, stream } from '../../client/call.ts'
import { UnreachableError } from '../../client/errors.ts'
import type { Connection } from '../../client/request.ts'
import { CadreError, type ErrorCode } from '../../contract/errors.ts'
import { documentRoutes } from '../../contract/families/documents.ts'
import {
  type KnowledgeSource,
  knowledgeSourceRoutes,
  type SyncChanges,
  type SyncProgress,
} from '../../contract/families/knowledge-sources.ts'
import { paint } from '../terminal/color.ts'
import { formatCount, formatMilliseconds } from '../terminal/format-quantity.ts'
import type { ProgressDisplay, ProgressStep } from '../terminal/progress-bar.ts'
import { quoteShellWord } from '../terminal/shell-quote.ts'
import { sanitizeLine } from '../terminal/text.ts'
import { formatIncompleteTablesAfterSync } from './format-incomplete-tables.ts'
import { formatIndexed, formatRecognition, formatSkipped, formatUnreadable } from './format-statistics.ts'
import { formatAllowCommand, isBlockedAddress } from './private-address-hint.ts'

export interface SyncOutcome {
  source: KnowledgeSource
  /** Statistics before the sync. */
  before: KnowledgeSource['statistics']
  /** Changes that the daemon reported; zero after it was restarted. */
  changes: SyncChanges
  milliseconds: number
}

const MAX_LISTED_FAILURES = 5
/** More images and scans are recognised in the background. */
const MAX_AWAITED_SCANS = 30

export async function startSync(connection: Connection, id: string, recognizeAgain = false): Promise<KnowledgeSource> {
  const query = recognizeAgain ? { recognize_again: true } : {}
  return (await call(connection, knowledgeSourceRoutes.sync, { params: { id }, query })).data
}

/** Follows a started sync to its end. */
export async function followSync(connection: Connection, started: KnowledgeSource, display: ProgressDisplay): Promise<SyncOutcome> {
  const startedAt = Date.now()
  const name = quoteShellWord(started.name)
  const describe = () =>
    `The daemon continues to index ${sanitizeLine(started.name)} in the background.\nCheck it: cadre status\n` +
    `Follow it: cadre knowledge sync ${name}\nCancel it: cadre knowledge sync ${name} --cancel`
  return display.explainInterruption(describe, async () => {
    let filesRead = 0
    const changes = { read: 0, unreadable: 0, gone: 0, embedded: 0 }
    for (;;) {
      const { changes: latest, ...source } = await readSyncEvents(connection, started, (progress) => {
        if (progress.stage === 'reading' || progress.stage === 'embedding') filesRead = Math.max(filesRead, progress.documents)
        display.show(toProgressStep(progress, filesRead))
        return progress.stage === 'recognizing' && (progress.documents_total ?? 0) > MAX_AWAITED_SCANS
      })
      for (const field of Object.keys(changes) as (keyof SyncChanges)[]) changes[field] += latest?.[field] ?? 0
      // Still syncing: an earlier sync has ended and ours starts now.
      if (source.status !== 'syncing') return { source, before: started.statistics, changes, milliseconds: Date.now() - startedAt }
    }
  })
}

/** The source after the sync; a restarted daemon does not know the changes. */
type EndedSource = KnowledgeSource & { changes?: SyncChanges }

/** Reads events until the sync has ended, or until `onProgress` returns true. */
async function readSyncEvents(
  connection: Connection,
  source: KnowledgeSource,
  onProgress: (progress: SyncProgress) => boolean,
): Promise<EndedSource> {
  try {
    for await (const { event, data } of stream(connection, knowledgeSourceRoutes.syncEvents, { params: { id: source.id } })) {
      const value = JSON.parse(data) as unknown
      if (event === 'progress' && onProgress(value as SyncProgress))
        return (await call(connection, knowledgeSourceRoutes.get, { params: { id: source.id } })).data
      if (event === 'sync_end') return value as EndedSource
      if (event === 'error') throw createSyncError(value as { error: string; code: ErrorCode }, source)
    }
  } catch (error) {
    if (error instanceof CadreError || error instanceof UnreachableError) throw error
    throw createDisconnectedError(error)
  }
  throw createDisconnectedError(undefined)
}

function createSyncError({ error, code }: { error: string; code: ErrorCode }, source: KnowledgeSource): CadreError {
  const name = quoteShellWord(source.name)
  if (!isBlockedAddress(source, error)) return new CadreError(code, error, { hint: `Fix it, then run: cadre knowledge sync ${name}` })
  const allowCommand = formatAllowCommand(source, error)
  return new CadreError('ADDRESS_BLOCKED', error, {
    hint: `${allowCommand ? `To allow it: ${allowCommand}\n` : ''}To delete the source: cadre knowledge delete ${name}`,
  })
}

const createDisconnectedError = (cause: unknown) =>
  new UnreachableError('The connection to the daemon was lost during the sync.', {
    hint: 'The sync continues when the daemon is started: cadre daemon start',
    cause,
  })

export function toProgressStep({ stage, documents, documents_total, chunks, chunks_total }: SyncProgress, filesRead = 0): ProgressStep {
  if (stage === 'finding') return { label: 'Scanning', done: documents, total: null, unit: 'files' }
  if (stage === 'recognizing') return { label: 'Recognising', done: documents, total: documents_total, unit: 'files' }
  if (stage === 'reading') return { label: 'Reading', done: documents, total: documents_total, unit: 'files' }
  return {
    label: 'Indexing',
    done: chunks,
    total: chunks_total,
    unit: 'passages',
    ...(filesRead > 0 ? { note: formatCount(filesRead, 'file') } : {}),
  }
}

/** Formats the outcome of a sync as one sentence. */
export function formatSyncOutcome({ source, before, changes, milliseconds }: SyncOutcome): string {
  const name = paint('bold', sanitizeLine(source.name))
  const { documents, failed, recognizing } = source.statistics
  if (source.status === 'pending') return `${name}: the sync was cancelled; indexed documents are kept.`
  if (documents === 0) return `${name}: no documents found${formatSkipped(source.statistics)}.`
  if (documents === failed) return `${name}: no document could be read.`
  if (recognizing === documents) return `${name}: ${formatRecognition(source.statistics)}; --no-ocr skips them.`
  const time = formatMilliseconds(milliseconds)
  const indexed = formatIndexed(source.statistics)
  const left = recognizing > 0 ? `; ${formatRecognition(source.statistics)}; --no-ocr skips them` : ''
  const others = `${formatUnreadable(source.statistics)}${formatSkipped(source.statistics)}${left}`
  if (before.documents === 0) return `${name}: ${indexed} indexed in ${time}${others}.`
  return `${name}: ${formatChanges(changes)} in ${time}; total ${indexed}${others}.`
}

function formatChanges({ read, unreadable, gone, embedded }: SyncChanges): string {
  const parts = [
    read > 0 ? `${formatCount(read, 'document')} read` : '',
    unreadable > 0 ? `${formatCount(unreadable, 'document')} unreadable` : '',
    embedded > 0 ? `${formatCount(embedded, 'passage')} indexed` : '',
    gone > 0 ? `${formatCount(gone, 'document')} deleted` : '',
  ].filter(Boolean)
  return parts.length > 0 ? parts.join(', ') : 'no changes'
}

/** Formats what users should know after a sync: documents that could not be read, and tables that are not complete. */
export const formatNotices = async (connection: Connection, source: KnowledgeSource): Promise<string[]> => [
  ...(await formatFailures(connection, source)),
  ...(await formatIncompleteTablesAfterSync(connection, source)),
]

/** Formats the documents that could not be read and their errors. */
async function formatFailures(connection: Connection, { id, name, statistics }: KnowledgeSource): Promise<string[]> {
  if (statistics.failed === 0) return []
  const query = { status: 'failed', limit: MAX_LISTED_FAILURES, sort: 'name', order: 'asc' } as object
  const { data, pagination } = await call(connection, documentRoutes.list, { params: { id }, query })
  const more = pagination.total - data.length
  return [
    paint('yellow', `${formatCount(pagination.total, 'document')} could not be read:`),
    ...data.map((document) => `  ${sanitizeLine(document.name)}: ${sanitizeLine(document.error ?? 'unknown error')}`),
    ...(more > 0
      ? [paint('dim', `  and ${more} more: cadre knowledge documents list ${quoteShellWord(name)} --filter status=failed --all`)]
      : []),
  ]
}
