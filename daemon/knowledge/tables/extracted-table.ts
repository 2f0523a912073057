/** A table of a document, before the types of its columns are known. */

export interface ExtractedTable {
  /** The heading or sheet above it; empty if the document is the table. */
  caption: string
  header: readonly string[]
  rowCount: number
  /** Calls `add` with the trimmed cells of each row. Can be called again. */
  forEachRow(add: (row: readonly string[]) => void): void
}
