/** The words of tables, which every question is compared with. They are kept, because splitting them takes most of the time. */
import { expandHeader } from '../../tables/cells/header-words.ts'
import { splitWords } from '../../tables/parse-question.ts'
import type { CellValue } from '../../tables/typed-table.ts'
import { COLUMN_WORDS } from '../../tables/vocabulary.ts'
import { listCompounds } from '../../tables/wording/compound-words.ts'
import type { StoredTable } from './table-store.ts'

/** Of all tables that are kept. */
const MAX_VALUES = 200_000

export interface TableWords {
  title: ReadonlySet<string>
  headers: readonly string[]
  /** The distinct values of a small table. Those of a large one are searched for. */
  values: readonly CellValue[] | undefined
  /** What is written with a hyphen, by how it is written without. */
  compounds: ReadonlyMap<string, string>
}

export class TableWordCache {
  readonly #words = new Map<string, TableWords>()
  #size = 0

  /** `listValues` returns undefined for a large table. */
  get(path: string, table: StoredTable, listValues: () => CellValue[] | undefined): TableWords {
    const key = [path, table.name, table.documentId, table.contentHash].join('\0')
    const known = this.#words.get(key)
    if (known) return known
    const values = listValues()
    const words = {
      title: new Set(listStems(table.title)),
      headers: table.columns.flatMap(({ header }) => listStems(expandHeader(header))),
      values,
      compounds: listCompounds([...table.columns.map(({ header }) => header), ...(values ?? []).map(({ text }) => text)]),
    }
    const size = 1 + (values?.length ?? 0)
    // The tables of a source are asked together, so that removing the oldest ones alone would not help.
    if (this.#size + size > MAX_VALUES) {
      this.#words.clear()
      this.#size = 0
    }
    this.#size += size
    this.#words.set(key, words)
    return words
  }
}

const listStems = (text: string): string[] =>
  splitWords(text.replaceAll(/[_./-]/g, ' ')).flatMap(({ isStop, stem, text: word }) => (isStop && !COLUMN_WORDS.has(word) ? [] : [stem]))
