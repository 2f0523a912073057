/** Tasks of the process that builds and queries tables, and their results. */
import type { CadreError } from '../../../src/contract/errors.ts'
import type { OriginalContent } from '../../store/original-store.ts'
import type { Meaning } from '../../tables/similarity/choose-meanings.ts'
import type { QueryRows } from '../../tables/sql/run-query.ts'
import type { TableReply } from './ask-tables.ts'
import type { LeftOut, StoredTable, TableDocument } from './table-store.ts'

/** `path` is the file of a source. */
export type TableTask =
  /** Removes the tables of other documents, and returns the documents whose tables are missing. */
  | { kind: 'compare'; path: string; documents: TableDocument[] }
  | { kind: 'add'; path: string; document: TableDocument; content: OriginalContent }
  /** Records a document whose tables cannot be built. */
  | { kind: 'reject'; path: string; document: TableDocument; problem: string | null }
  | { kind: 'list'; path: string }
  | { kind: 'query'; path: string; sql: string; maxRows: number }
  /** `meanings` are what words mean that name nothing. */
  | { kind: 'ask'; paths: string[]; question: string; meanings?: Meaning[] }

/** Rows of a query, and the documents of the tables that it read. */
interface TableRows extends Omit<QueryRows, 'tables'> {
  documents: TableDocument[]
}

export interface TableList {
  tables: StoredTable[]
  leftOut: LeftOut[]
}

export interface TableResults {
  compare: TableDocument[]
  /** What was left out of the tables of the document. */
  add: string | null
  reject: null
  list: TableList
  query: TableRows
  ask: TableReply
}

export type TableOutcome =
  | { kind: 'done'; result: TableResults[TableTask['kind']] }
  /** The task is not valid. */
  | { kind: 'refused'; code: CadreError['code']; message: string; hint: string | undefined }
