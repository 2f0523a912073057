/** Synchronizations at the terminal: started, followed with a bar, and told in a sentence. */
import type { Static } from 'typebox'
import { call, stream } from '../../client/call.ts'
import { UnreachableError } from '../../client/failures.ts'
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
import { duration } from '../terminal/format-quantity.ts'
import type { ProgressDisplay, Step } from '../terminal/progress-bar.ts'
import { quoted } from '../terminal/shell-quote.ts'
import { oneLine } from '../terminal/text.ts'
import { isBlocked, opening } from './private-address-hint.ts'

export type Source = Static<typeof KnowledgeSource>
type Progress = Static<typeof SyncProgress>
type Changes = Static<typeof SyncChanges>

export interface Synced {
  source: Source
  /** What it held before. */
  before: Source['statistics']
  /** What was done now, as far as the daemon knows it. */
  changes: Changes
  milliseconds: number
}

const SHOWN_FAILURES = 5

export async function startSync(connection: Connection, id: string): Promise<Source> {
  return (await call(connection, knowledgeSourceRoutes.sync, { params: { id } })).data
}

/** Follows a synchronization that was started to its end. */
export async function followSync(connection: Connection, started: Source, display: ProgressDisplay): Promise<Synced> {
  const began = Date.now()
  const goesOn = () => {
    display.end()
    const name = quoted(started.name)
    process.stderr.write(
      `\nThe daemon goes on with ${oneLine(started.name)}.\nFollow it: cadre knowledge sync ${name}\nStop it:   cadre knowledge sync ${name} --cancel\n`,
    )
  }
  process.prependListener('SIGINT', goesOn)
  try {
    let read = 0
    const changes = { read: 0, unreadable: 0, gone: 0, embedded: 0 }
    for (;;) {
      const { changes: now, ...source } = await lastEvent(connection, started, (progress) => {
        if (progress.stage !== 'finding') read = Math.max(read, progress.documents)
        display.show(stepOf(progress, read))
      })
      for (const what of Object.keys(changes) as (keyof Changes)[]) changes[what] += now?.[what] ?? 0
      // Asked for while another one was under way: that one ended, ours begins.
      if (source.status !== 'syncing') return { source, before: started.statistics, changes, milliseconds: Date.now() - began }
    }
  } finally {
    process.removeListener('SIGINT', goesOn)
    display.clear()
  }
}

/** The source as it ended up; a daemon that was started since knows no more what was done. */
type Ended = Source & { changes?: Changes }

async function lastEvent(connection: Connection, source: Source, progressed: (progress: Progress) => void): Promise<Ended> {
  try {
    for await (const { event, data } of stream(connection, knowledgeSourceRoutes.syncEvents, { params: { id: source.id } })) {
      const value = JSON.parse(data) as unknown
      if (event === 'progress') progressed(value as Progress)
      if (event === 'sync_end') return value as Ended
      if (event === 'error') throw failed(value as { error: string; code: ErrorCode }, source)
    }
  } catch (error) {
    if (error instanceof CadreError || error instanceof UnreachableError) throw error
    throw cutOff(error)
  }
  throw cutOff(undefined)
}

function failed({ error, code }: { error: string; code: ErrorCode }, source: Source): CadreError {
  const name = quoted(source.name)
  if (!isBlocked(source, error)) return new CadreError(code, error, { hint: `Mend it, then: cadre knowledge sync ${name}` })
  const open = opening(source, error)
  return new CadreError('ADDRESS_BLOCKED', error, {
    hint: `${open ? `To say so: ${open}\n` : ''}To take it away: cadre knowledge delete ${name}`,
  })
}

const cutOff = (cause: unknown) =>
  new UnreachableError('The daemon went away before the synchronization was done.', {
    hint: 'It goes on with it when it is started again: cadre daemon start',
    cause,
  })

function stepOf({ stage, documents, documents_total, chunks, chunks_total }: Progress, read: number): Step {
  if (stage === 'finding') return { label: 'Looking', done: documents, total: null, unit: 'files' }
  if (stage === 'reading') return { label: 'Reading', done: documents, total: documents_total, unit: 'files' }
  return { label: 'Indexing', done: chunks, total: chunks_total, unit: 'passages', ...(read > 0 ? { note: counted(read, 'file') } : {}) }
}

export function counted(number: number, noun: string): string {
  return `${number.toLocaleString('en')} ${noun}${number === 1 ? '' : 's'}`
}

/** Short times with a decimal, long ones as elsewhere. */
export function took(milliseconds: number): string {
  return milliseconds < 10_000 ? `${(milliseconds / 1000).toFixed(1)} s` : duration(milliseconds / 1000)
}

/** What a synchronization came to, as one sentence. */
export function outcome({ source, before, changes, milliseconds }: Synced): string {
  const name = paint('bold', oneLine(source.name))
  const { documents, chunks, failed } = source.statistics
  if (source.status === 'pending') return `${name}: the synchronization was cancelled; what it has done so far stays.`
  const holds = `${counted(documents, 'document')}, ${counted(chunks, 'passage')}`
  if (documents === 0) return `${name}: no documents were found.`
  if (documents === failed) return `${name}: nothing in it could be read.`
  const time = took(milliseconds)
  if (before.documents === 0) return `${name}: ${holds} indexed in ${time}.`
  return `${name}: ${told(changes)} in ${time}; it holds ${holds}.`
}

function told({ read, unreadable, gone, embedded }: Changes): string {
  const parts = [
    read > 0 ? `${counted(read, 'document')} read` : '',
    unreadable > 0 ? `${counted(unreadable, 'document')} unreadable` : '',
    embedded > 0 ? `${counted(embedded, 'passage')} indexed` : '',
    gone > 0 ? `${counted(gone, 'document')} gone` : '',
  ].filter(Boolean)
  return parts.length > 0 ? parts.join(', ') : 'nothing changed'
}

/** The documents that could not be read, and why; nothing when there are none. */
export async function failures(connection: Connection, { id, name, statistics }: Source): Promise<string[]> {
  if (statistics.failed === 0) return []
  const query = { status: 'failed', limit: SHOWN_FAILURES, sort: 'name', order: 'asc' } as object
  const { data, pagination } = await call(connection, documentRoutes.list, { params: { id }, query })
  const more = pagination.total - data.length
  return [
    paint('yellow', `${counted(pagination.total, 'document')} could not be read:`),
    ...data.map((document) => `  ${oneLine(document.name)}: ${oneLine(document.error ?? 'nobody knows why')}`),
    ...(more > 0 ? [paint('dim', `  and ${more} more: cadre knowledge documents list ${quoted(name)} --filter status=failed --all`)] : []),
  ]
}
