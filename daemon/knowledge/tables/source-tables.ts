/** The tables of knowledge sources: kept up to date with the documents, listed, queried and asked. */
import { existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { CadreError } from '../../../src/contract/errors.ts'
import type { Table, TableList as TableListView, TableQueryResult } from '../../../src/contract/families/tables.ts'
import { mapConcurrently } from '../../async/map-concurrently.ts'
import type { Logger } from '../../logging/logger.ts'
import type { Database } from '../../store/database.ts'
import type { OriginalStore } from '../../store/original-store.ts'
import { type Compute, type ComputedAnswer, keepRelevant } from '../../tables/computation.ts'
import { asksForComputation } from '../../tables/describe-problem.ts'
import { WorkerError, type WorkerProblem } from '../../workers/worker-error.ts'
import { listReadDocuments, readSignature, setTableNotice } from './document-store.ts'
import { hasTableType, mayHaveTables } from './documents-with-tables.ts'
import { BUILDERS, SMALL_DOCUMENT_BYTES, selectBuilder } from './table-limits.ts'
import { TablePool } from './table-pool.ts'
import { FORMAT_VERSION, type StoredTable, type TableDocument } from './table-store.ts'
import type { TableList } from './table-task.ts'
import { type EmbedTexts, WordVectors } from './word-vectors.ts'

const MAX_QUERY_MS = 5_000
/** Longer texts are no questions over a table. Patterns over them would take seconds. */
const MAX_QUESTION_LENGTH = 500
const NOT_COMPUTED = 'Nothing was computed from the tables of your documents, because that took too long or failed. Ask again in a moment.'
const QUERY_PROCESSES = 2
const MAX_BUILD_MS = 10 * 60_000
const MAX_CONCURRENT_READS = 8
const MAX_LIST_MS = 30_000
/** How long a question waits for tables that are being built. */
const MAX_WAIT_MS = 2_000
/** Exists if the source had no tables, and contains the version of the builder and the signature of the documents. */
const MARKER_NAME = 'tables.none'

interface SourceTablesDependencies {
  database: Database
  originals: Pick<OriginalStore, 'provide'>
  logger: Logger
  workDirectory: string
  /** The embedded model, which compares words of questions with names of tables. */
  embed: EmbedTexts
  /** Memory limits of the processes that build tables, in MB. */
  builderMb?: Record<keyof typeof BUILDERS, number>
}

export interface TableDescription {
  source: string
  name: string
  document: string
  rows: number
  columns: { name: string; type: string; unit: string }[]
}

/** Rows of a query, and the documents of the tables that it read. */
export interface DocumentQueryResult {
  result: TableQueryResult
  documents: TableDocument[]
}

interface SourceState {
  /** Changes with the documents of the source. */
  signature: string
  tableCount: number
}

export class SourceTables {
  readonly #dependencies: SourceTablesDependencies
  /** Building a large table takes minutes and a query seconds, so that neither shares a process with questions. */
  readonly #builders: Record<keyof typeof BUILDERS, TablePool>
  readonly #asker: TablePool
  readonly #querier: TablePool
  readonly #vectors: WordVectors
  /** The last query of each caller: a caller has one process at a time, so that others need not wait for its queries. */
  readonly #queries = new Map<string, Promise<unknown>>()
  readonly #states = new Map<string, SourceState>()
  readonly #updates = new Map<string, Promise<void>>()

  constructor(dependencies: SourceTablesDependencies) {
    this.#dependencies = dependencies
    const { logger, builderMb = BUILDERS } = dependencies
    const createBuilder = (memoryMb: number) => new TablePool({ memoryMb, isBackground: true, logger })
    const { small, large, huge } = builderMb
    this.#builders = { small: createBuilder(small), large: createBuilder(large), huge: createBuilder(huge) }
    this.#asker = new TablePool({ memoryMb: 400, logger })
    this.#vectors = new WordVectors(dependencies.embed)
    this.#querier = new TablePool({ memoryMb: 400, size: QUERY_PROCESSES, logger })
  }

  /** Builds the tables of new and changed documents, and removes those of deleted ones. */
  async update(sourceId: string, signal?: AbortSignal): Promise<void> {
    await this.#updates.get(sourceId)
    const update = this.#build(sourceId, signal).finally(() => this.#updates.delete(sourceId))
    this.#updates.set(sourceId, update)
    await update
  }

  /** Passages are complete without tables: a failure is only logged. */
  async updateAfterSync(sourceId: string, signal: AbortSignal): Promise<void> {
    try {
      await this.update(sourceId, signal)
    } catch (error) {
      signal.throwIfAborted()
      this.#dependencies.logger.error({ source: sourceId, err: error }, 'cannot build the tables of a source')
    }
  }

  async list(sourceId: string): Promise<TableList> {
    await this.#ensureCurrent(sourceId)
    if (!existsSync(this.#getPath(sourceId))) return { tables: [], leftOut: [] }
    return this.#asker.run({ kind: 'list', path: this.#getPath(sourceId) }, { timeoutMs: MAX_LIST_MS })
  }

  /** Whether a source has tables, as far as this is known without reading its documents. */
  hasTables(sourceId: string): boolean {
    const state = this.#states.get(sourceId)
    return state ? state.tableCount > 0 : existsSync(this.#getPath(sourceId))
  }

  /** Lists the tables of a source for chat models. */
  async describe(sourceId: string): Promise<TableDescription[]> {
    return (await this.list(sourceId)).tables.map((table) => {
      const { name, document, rows, columns } = toTableView(table)
      return {
        source: sourceId,
        name,
        document,
        rows,
        columns: columns.map(({ name: column, type, unit }) => ({ name: column, type, unit })),
      }
    })
  }

  /** Queries of the same owner run one after another. */
  async query(owner: string, sourceId: string, sql: string, maxRows: number, signal?: AbortSignal): Promise<DocumentQueryResult> {
    await this.#ensureCurrent(sourceId)
    const previous = this.#queries.get(owner) ?? Promise.resolve()
    const query = previous.catch(() => undefined).then(() => this.#runQuery(sourceId, sql, maxRows, signal))
    this.#queries.set(owner, query)
    try {
      return await query
    } finally {
      if (this.#queries.get(owner) === query) this.#queries.delete(owner)
    }
  }

  async #runQuery(sourceId: string, sql: string, maxRows: number, signal: AbortSignal | undefined): Promise<DocumentQueryResult> {
    signal?.throwIfAborted()
    try {
      const task = { kind: 'query', path: this.#getPath(sourceId), sql, maxRows } as const
      const { columns, rows, isCut, documents } = await this.#querier.run(task, { timeoutMs: MAX_QUERY_MS, signal })
      return { result: { columns, rows, truncated: isCut }, documents }
    } catch (error) {
      if (!(error instanceof WorkerError) || (error.problem !== 'timeout' && error.problem !== 'memory')) throw error
      const limit = error.problem === 'timeout' ? `took longer than ${MAX_QUERY_MS / 1000} s` : 'needed too much memory'
      throw new CadreError('CONFLICT', `The query ${limit} and was ended.`, { hint: 'Select less, or add conditions.' })
    }
  }

  async ask(sourceIds: readonly string[], ...[question, closest, signal]: Parameters<Compute>): Promise<ComputedAnswer> {
    if (question.length > MAX_QUESTION_LENGTH) return { computations: [] }
    const current = Promise.all(sourceIds.map((id) => this.#ensureCurrent(id)))
    current.catch((error: unknown) => this.#dependencies.logger.warn({ err: error }, 'cannot build tables'))
    // The first question after an update of Cadre does not wait until all tables are built.
    await Promise.race([current, pause(MAX_WAIT_MS, undefined, { ref: false })]).catch(() => undefined)
    signal?.throwIfAborted()
    const ids = sourceIds.filter((id) => (this.#states.get(id)?.tableCount ?? 0) > 0)
    if (ids.length === 0) return { computations: [] }
    try {
      const paths = ids.map((id) => this.#getPath(id))
      return keepRelevant(await this.#ask(paths, question, signal), closest)
    } catch (error) {
      signal?.throwIfAborted()
      // The documents are quoted then.
      this.#dependencies.logger.warn({ err: error }, 'a question could not be answered from tables')
      return { computations: [], ...(asksForComputation(question) ? { notice: NOT_COMPUTED } : {}) }
    }
  }

  /** A question with words that name nothing is asked again with the names that they mean. */
  async #ask(paths: string[], question: string, signal: AbortSignal | undefined): Promise<ComputedAnswer> {
    const options = { timeoutMs: MAX_QUERY_MS, signal }
    const { unclear, ...answer } = await this.#asker.run({ kind: 'ask', paths, question }, options)
    if (unclear === undefined) return answer
    try {
      const meanings = await this.#vectors.chooseMeanings(unclear, signal)
      if (meanings.length === 0) return answer
      const { computations } = await this.#asker.run({ kind: 'ask', paths, question, meanings }, options)
      return computations.length > 0 ? { computations } : answer
    } catch (error) {
      signal?.throwIfAborted()
      this.#dependencies.logger.warn({ err: error }, 'words of a question could not be compared with the names of tables')
      return answer
    }
  }

  forget(sourceId: string): void {
    this.#states.delete(sourceId)
  }

  async close(): Promise<void> {
    const pools = [...Object.values(this.#builders), this.#asker, this.#querier]
    await Promise.all(pools.map((pool) => pool.close()))
  }

  #getPath(sourceId: string): string {
    return join(this.#dependencies.workDirectory, sourceId, 'tables.db')
  }

  /** Builds the tables of sources that were synced by an older version or by another daemon. */
  async #ensureCurrent(sourceId: string): Promise<void> {
    await this.#updates.get(sourceId)
    if (this.#states.get(sourceId)?.signature === (await readSignature(this.#dependencies.database, sourceId))) return
    await this.update(sourceId)
  }

  async #build(sourceId: string, signal: AbortSignal | undefined): Promise<void> {
    const { database } = this.#dependencies
    const signature = await readSignature(database, sourceId)
    if (this.#states.get(sourceId)?.signature === signature) return
    const path = this.#getPath(sourceId)
    const setTableCount = (tableCount: number) => this.#states.set(sourceId, { signature, tableCount })
    if (!existsSync(path) && !(await this.#mayHaveTables(sourceId, signature))) return void setTableCount(0)
    const rows = (await listReadDocuments(database, sourceId)).filter(({ type }) => hasTableType(type))
    const sizes = new Map(rows.map(({ id, size }) => [id, size]))
    const documents = rows.map(({ id, name, content_hash }) => ({ id, name, contentHash: content_hash }))
    const missing = await this.#builders.small.run({ kind: 'compare', path, documents }, { timeoutMs: MAX_LIST_MS, signal })
    const isSmall = ({ id }: TableDocument) => selectBuilder(sizes.get(id) ?? 0) === 'small'
    // Large ones first, while the process for small ones has little memory.
    for (const document of [...missing.filter((each) => !isSmall(each)), ...missing.filter(isSmall)])
      await this.#addDocument(path, document, sizes.get(document.id) ?? 0, signal)
    // The process would keep memory, which text recognition needs.
    const { tables } = await this.#builders.small.run({ kind: 'list', path }, { timeoutMs: MAX_LIST_MS, signal, endsWorker: true })
    setTableCount(tables.length)
  }

  /** A document whose tables cannot be built is not tried again until it changes. */
  async #addDocument(path: string, document: TableDocument, size: number, signal: AbortSignal | undefined): Promise<void> {
    const { database, originals, logger } = this.#dependencies
    const builder = this.#builders[selectBuilder(size)]
    let notice: string | null
    try {
      const content = await originals.provide(document.contentHash)
      const options = { timeoutMs: MAX_BUILD_MS, signal, endsWorker: size > SMALL_DOCUMENT_BYTES }
      notice = await builder.run({ kind: 'add', path, document, content }, options)
    } catch (error) {
      signal?.throwIfAborted()
      logger.warn({ document: document.name, err: error }, 'cannot build the tables of a document')
      notice = error instanceof WorkerError ? describeFailure(error) : null // the sync reports an original that is missing or damaged
      await this.#builders.small.run({ kind: 'reject', path, document, problem: notice }, { timeoutMs: MAX_LIST_MS, signal })
    }
    await setTableNotice(database, document, notice)
  }

  /** Starting the process for a source without tables is not worth it. Only documents that are new since the last time are read. */
  async #mayHaveTables(sourceId: string, signature: string): Promise<boolean> {
    const { database, originals } = this.#dependencies
    const marker = join(dirname(this.#getPath(sourceId)), MARKER_NAME)
    const [version, , latest] = (await readFile(marker, 'utf8').catch(() => '')).split(' ')
    const since = version === String(FORMAT_VERSION) ? latest : undefined
    const documents = await listReadDocuments(database, sourceId, since)
    const check = async ({ type, content_hash }: (typeof documents)[number]) =>
      mayHaveTables(type, () => originals.provide(content_hash)).catch(() => false)
    for await (const hasTables of mapConcurrently(documents, MAX_CONCURRENT_READS, check)) if (hasTables) return true
    await mkdir(dirname(marker), { recursive: true, mode: 0o700 })
    await writeFile(marker, `${FORMAT_VERSION} ${signature}`, { mode: 0o600 })
    return false
  }
}

const BUILD_PROBLEMS: Partial<Record<WorkerProblem, string>> = {
  memory: 'building them needed too much memory',
  timeout: `building them took longer than ${MAX_BUILD_MS / 60_000} minutes`,
}

const describeFailure = ({ problem }: WorkerError): string =>
  `None of its tables can be computed with: ${BUILD_PROBLEMS[problem] ?? 'they cannot be read'}.`

export const toTableListView = ({ tables, leftOut }: TableList): TableListView => ({
  tables: tables.map(toTableView),
  left_out: leftOut.map(({ documentId, document, notice }) => ({ document, document_id: documentId, notice })),
})

function toTableView({ name, document, documentId, rowCount, columns, notice }: StoredTable): Table {
  return {
    name,
    document,
    document_id: documentId,
    rows: rowCount,
    columns: columns.map(({ header, type, unit, readings }) => ({
      name: (type === 'text' ? undefined : (readings.number ?? readings.date)) ?? readings.text,
      header,
      type,
      unit,
      text_name: readings.text,
    })),
    notice,
  }
}
