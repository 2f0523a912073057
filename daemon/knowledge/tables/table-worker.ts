/** A process that builds and queries the tables of sources. */
import { CadreError } from '../../../src/contract/errors.ts'
import { freeMemory } from '../../process/free-memory.ts'
import { loadContent } from '../../store/original-store.ts'
import type { Weights } from '../../tables/rank-queries.ts'
import { runQuery } from '../../tables/sql/run-query.ts'
import { loadWeights } from '../../tables/weights.ts'
import { serveJobs } from '../../workers/serve-jobs.ts'
import { DocumentReadError } from '../readers/parsed-document.ts'
import { askTables } from './ask-tables.ts'
import { extractTables } from './extract-tables.ts'
import { type StoredTable, type TableDocument, TableStore } from './table-store.ts'
import type { TableOutcome, TableResults, TableTask } from './table-task.ts'
import { TableWordCache } from './table-words.ts'

/**
 * libsql 0.5 frees the memory of a closed file, about 1 MB with many tables, when its objects are collected, and V8 does not know how large
 * they are: without this, 2,000 small documents took half a gigabyte.
 */
const FREE_INTERVAL = 16

let tasks = 0
let weights: Weights | undefined
const words = new TableWordCache()

async function runTask(task: TableTask): Promise<TableResults[TableTask['kind']]> {
  switch (task.kind) {
    case 'compare':
      return withFile(TableStore.openForWriting(task.path), (file) => compareDocuments(file, task.documents))
    case 'add': {
      const tables = await extractTables(await loadContent(task.content), task.document.name).catch((error: unknown) => {
        // Its passages report the problem.
        if (error instanceof DocumentReadError) return []
        throw error
      })
      return withFile(TableStore.openForWriting(task.path), (file) => {
        file.replace(task.document, tables)
        return file.listLeftOut().find(({ documentId }) => documentId === task.document.id)?.notice ?? null
      })
    }
    case 'reject':
      return withFile(TableStore.openForWriting(task.path), (file) => {
        file.replace(task.document, [], task.problem)
        return null
      })
    case 'list':
      return withFile(TableStore.openForReading(task.path), (file) => ({
        tables: file?.listTables() ?? [],
        leftOut: file?.listLeftOut() ?? [],
      }))
    case 'query':
      return withFile(TableStore.openForReading(task.path), (file) => {
        if (!file) throw new CadreError('CONFLICT', 'The source has no tables.', { hint: 'Sync the source first.' })
        const tables = file.listTables()
        const names = tables.map(({ name }) => name)
        const { tables: used, ...rows } = runQuery(file.database, names, task.sql, task.maxRows)
        return { ...rows, documents: listDocuments(tables.filter(({ name }) => used.includes(name))) }
      })
    case 'ask': {
      const files = task.paths.flatMap((path) => TableStore.openForReading(path) ?? [])
      try {
        weights ??= loadWeights()
        return askTables(task.question, files, weights, words, new Date(), task.meanings)
      } finally {
        for (const file of files) file.close()
      }
    }
  }
}

function withFile<F extends TableStore | undefined, T>(file: F, work: (file: F) => T): T {
  try {
    return work(file)
  } finally {
    file?.close()
  }
}

function listDocuments(tables: readonly StoredTable[]): TableDocument[] {
  const documents = tables.map(({ documentId: id, document: name, contentHash }) => ({ id, name, contentHash }))
  return [...new Map(documents.map((document) => [document.id, document])).values()]
}

function compareDocuments(file: TableStore, documents: readonly TableDocument[]): TableDocument[] {
  const known = new Map(file.listDocuments().map((document) => [document.id, document]))
  const current = new Set(documents.map(({ id }) => id))
  const removed = [...known.keys()].filter((id) => !current.has(id))
  if (removed.length > 0) file.remove(removed)
  // After others were removed, there may be room for tables that were left out.
  const hasRoom = file.countRoom() > 0
  return documents.filter(({ id, contentHash }) => {
    const document = known.get(id)
    return document?.contentHash !== contentHash || (hasRoom && document.lacksRoom === 1)
  })
}

await serveJobs<TableTask, TableOutcome>(() => async (task) => {
  try {
    return { kind: 'done', result: await runTask(task) }
  } catch (error) {
    if (!(error instanceof CadreError)) throw error
    return { kind: 'refused', code: error.code, message: error.message, hint: error.hint }
  } finally {
    // After the result is sent.
    if (++tasks % FREE_INTERVAL === 0) setImmediate(freeMemory)
  }
})
