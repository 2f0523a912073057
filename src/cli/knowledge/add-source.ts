/** Creates or updates a knowledge source, uploads its files, syncs it and creates its RAG tool. */
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { call } from '../../client/call.ts'
import { readAllPages } from '../../client/paginate.ts'
import type { Connection } from '../../client/request.ts'
import { CadreError } from '../../contract/errors.ts'
import { documentRoutes } from '../../contract/families/documents.ts'
import { type KnowledgeSource, knowledgeSourceRoutes } from '../../contract/families/knowledge-sources.ts'
import { type RagTool, ragToolRoutes } from '../../contract/families/rag-tools.ts'
import { paint } from '../terminal/color.ts'
import { UsageError } from '../terminal/failures/command-errors.ts'
import { formatCount } from '../terminal/format-quantity.ts'
import type { ProgressDisplay } from '../terminal/progress-bar.ts'
import { quoteShellWord } from '../terminal/shell-quote.ts'
import { sanitizeLine } from '../terminal/text.ts'
import { readDocument } from './documents.ts'
import { followSync, formatNotices, formatSyncOutcome, type SyncOutcome, startSync } from './follow-sync.ts'
import { formatWatchNotice } from './format-watch-notice.ts'
import { SUPPORTED_FILES_HINT } from './inspect-folder.ts'
import { LOCATION_FIELDS, type PlannedSource } from './plan-sources.ts'
import { formatAllowCommand } from './private-address-hint.ts'

export interface AddedSource {
  source: KnowledgeSource
  tool: RagTool | undefined
  /** Whether the source was created. */
  isNew: boolean
  /** Undefined without `wait`. */
  sync: SyncOutcome | undefined
}

interface AddSourceOptions {
  connection: Connection
  display: ProgressDisplay
  /** Name of the RAG tool to create, if any. */
  tool: string | undefined
  description?: string
  wait: boolean
  /** The command line before the folder, for hints. */
  command?: string
}

export async function addSource(planned: PlannedSource, options: AddSourceOptions): Promise<AddedSource> {
  const { connection, display } = options
  const { source, isNew } = await ensureSource(connection, planned, options.command ?? 'cadre knowledge add')
  try {
    await uploadFiles(connection, source, planned, display)
  } catch (error) {
    // The error of the upload matters more than one of the removal.
    if (isNew) await removeIfEmpty(connection, source.id).catch(() => undefined)
    throw error
  }
  const started = await startSync(connection, source.id)
  // Created before the sync ends: full-text search works while passages are still being embedded.
  const tool = options.tool === undefined ? undefined : await ensureTool(connection, source, options.tool, options.description)
  if (!options.wait) return { source: started, tool, isNew, sync: undefined }
  try {
    const sync = await followSync(connection, { ...started, statistics: source.statistics }, display)
    return { source: sync.source, tool, isNew, sync }
  } catch (error) {
    // A new source whose address is blocked is useless; an existing one is kept.
    if (!isNew || !(error instanceof CadreError) || error.code !== 'ADDRESS_BLOCKED') throw error
    await removeAddedSource(connection, { source, tool })
    const allowHint = formatAllowCommand(source, error.message)
      ? ' To allow the address, repeat the command with --allow-private-network.'
      : ''
    throw error.withHint(`Nothing was added.${allowHint}`)
  }
}

/** Formats the outcome, the documents that could not be read and the next steps. */
export async function formatAddedSource(connection: Connection, { source, tool, sync, isNew }: AddedSource): Promise<string[]> {
  const name = quoteShellWord(source.name)
  const next = tool
    ? [
        `Ask a question: ${paint('bold', `cadre rag query ${quoteShellWord(tool.name)} "…"`)}`,
        `Create an agent: ${paint('bold', `cadre agents create --name ${quoteShellWord(tool.name)} --tool ${quoteShellWord(tool.name)}`)}`,
      ]
    : [`To ask questions: ${paint('bold', `cadre rag create --name ${name} --knowledge-source ${name}`)}`]
  if (!sync) return [`${sanitizeLine(source.name)}: syncing in the background. To follow it: cadre knowledge sync ${name}`, ...next]
  if (source.statistics.documents === 0)
    return [
      formatSyncOutcome(sync),
      ...(isNew ? [`The knowledge source ${sanitizeLine(source.name)} was created and is empty.`] : []),
      ...(source.type === 'url' ? [] : [paint('dim', `${SUPPORTED_FILES_HINT} Hidden files and files in .gitignore are skipped.`)]),
      `To sync it again: ${paint('bold', `cadre knowledge sync ${name}`)}`,
      `To delete it: ${paint('bold', `cadre knowledge delete ${name}`)}`,
    ]
  const notice = formatWatchNotice(source).map((line) => paint('dim', line))
  return [formatSyncOutcome(sync), ...(await formatNotices(connection, source)), ...(isUnreadable(source) ? [] : [...notice, ...next])]
}

/** Whether the source has documents but none could be read. */
export function isUnreadable({ statistics: { documents, failed } }: KnowledgeSource): boolean {
  return documents > 0 && documents === failed
}

async function removeIfEmpty(connection: Connection, id: string): Promise<void> {
  const { data } = await call(connection, knowledgeSourceRoutes.get, { params: { id } })
  if (data.statistics.documents === 0) await call(connection, knowledgeSourceRoutes.remove, { params: { id } })
}

/** Deletes a source and tool that were just created. */
export async function removeAddedSource(connection: Connection, { source, tool }: Pick<AddedSource, 'source' | 'tool'>): Promise<void> {
  if (tool) await call(connection, ragToolRoutes.remove, { params: { id: tool.id } })
  await call(connection, knowledgeSourceRoutes.remove, { params: { id: source.id } })
}

/** Finds the source with this name and location and updates its configuration, or creates it. */
async function ensureSource(
  connection: Connection,
  { name, type, configuration, auth, canMove, defaults }: PlannedSource,
  command: string,
): Promise<Pick<AddedSource, 'source' | 'isNew'>> {
  const { data: namesakes } = await call(connection, knowledgeSourceRoutes.list, { query: { name, limit: 10 } as object })
  const responses = await Promise.all(namesakes.map(({ id }) => call(connection, knowledgeSourceRoutes.get, { params: { id } })))
  const locationField = LOCATION_FIELDS[type] ?? ''
  const candidates = responses.map(({ data }) => data)
  const existing = candidates.find(
    (source) => source.type === type && (canMove || source.configuration[locationField] === configuration[locationField]),
  )
  const credentials = auth ? { auth } : {}
  if (!existing) {
    if (candidates[0]) throw createNameTakenError(name, candidates[0], configuration[locationField], command)
    const body = { name, type, configuration: { ...defaults, ...configuration }, ...credentials }
    const { data } = await call(connection, knowledgeSourceRoutes.create, { body })
    return { source: data, isNew: true }
  }
  const merged = { ...existing.configuration, ...configuration }
  if (!auth && JSON.stringify(merged) === JSON.stringify(existing.configuration)) return { source: existing, isNew: false }
  const { data } = await call(connection, knowledgeSourceRoutes.update, {
    params: { id: existing.id },
    body: { configuration: merged, ...credentials },
  })
  return { source: data, isNew: false }
}

function createNameTakenError(name: string, { type, configuration }: KnowledgeSource, added: unknown, command: string): UsageError {
  const location = configuration[LOCATION_FIELDS[type] ?? '']
  const description = typeof location === 'string' ? `for ${location}` : `of type ${type}`
  const target = typeof added === 'string' ? quoteShellWord(added) : 'FILE'
  return new UsageError(
    `A knowledge source "${name}" ${description} already exists.`,
    `To add this one under another name: ${command} ${target} --name ${quoteShellWord(`${name}-2`)}`,
  )
}

async function uploadFiles(
  connection: Connection,
  { id }: KnowledgeSource,
  { files }: PlannedSource,
  display: ProgressDisplay,
): Promise<void> {
  if (files.length === 0) return
  const hashes = await listContentHashes(connection, id)
  let done = 0
  const describe = () =>
    `${done} of ${formatCount(files.length, 'file')} uploaded; nothing is indexed yet. Run the command again to continue.`
  await display.explainInterruption(describe, async () => {
    for (const { path, name } of files) {
      display.show({ label: 'Uploading', done, total: files.length, unit: 'files' })
      if (hashes.get(name) !== (await hashFile(path)))
        await call(connection, documentRoutes.create, { params: { id }, body: { ...(await readDocument(path, name)), index: false } })
      done++
    }
  })
}

/** Lists content hashes by document name, so that unchanged files are not uploaded again. */
async function listContentHashes(connection: Connection, id: string): Promise<Map<string, string>> {
  const read = async (page: number) => {
    const { data, pagination } = await call(connection, documentRoutes.list, { params: { id }, query: { page, limit: 100 } })
    return { data: data.map(({ name, content_hash }): [string, string] => [name, content_hash]), pagination }
  }
  return new Map(await readAllPages(read))
}

async function hashFile(path: string): Promise<string | undefined> {
  try {
    return createHash('sha256')
      .update(await readFile(path))
      .digest('hex')
  } catch {
    return undefined // the upload reports the error
  }
}

/** Finds or creates the RAG tool; undefined if a tool of that name uses another source. */
async function ensureTool(
  connection: Connection,
  source: KnowledgeSource,
  name: string,
  description: string | undefined,
): Promise<RagTool | undefined> {
  const { data } = await call(connection, ragToolRoutes.list, { query: { name, limit: 10 } as object })
  const existing = data.find(({ knowledge_source_id }) => knowledge_source_id === source.id)
  if (existing) return existing
  if (data.length > 0) {
    connection.notify(
      `No RAG tool was created: "${name}" already exists for another source. ` +
        `To create one with another name: cadre rag create --name NAME --knowledge-source ${quoteShellWord(source.name)}`,
    )
    return undefined
  }
  const body = { name, knowledge_source_id: source.id, description: description ?? `Answers questions from ${source.name}.` }
  return (await call(connection, ragToolRoutes.create, { body })).data
}
