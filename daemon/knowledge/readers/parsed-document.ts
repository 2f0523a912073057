/** The result of reading a document, and the error of a document that cannot be read. */

export interface ParsedDocument {
  /** Newlines are \n; control characters are removed. */
  text: string
  format: 'markdown' | 'plain' | 'code' | 'config' | 'table'
  /** Offset of each page in the text, in order; empty if the document has no pages. */
  pages: { number: number; start: number }[]
  title: string | null
  /** Further parts of a large table, each after an empty line. They are created when they are read. */
  rest?: () => Iterable<string>
}

/** A document that cannot be read; the message explains why. */
export class DocumentReadError extends Error {
  override name = 'DocumentReadError'
}

export const EMPTY_DOCUMENT_MESSAGE = 'The document is empty.'

/** Normalizes newlines, removes control characters and replaces lone surrogates. The tests avoid copying clean text. */
export function cleanText(text: string): string {
  const newlines = /[\r\f\v\u0085\u2028\u2029]/.test(text) ? text.replaceAll(/\r\n?|[\f\v\u0085\u2028\u2029]/g, '\n') : text
  const visible = /[^\t\n\u0020-\u007e\u00a0-\ud7ff\ue000-\ufefe\uff00-\uffff]/.test(newlines)
    ? newlines.replaceAll(/[\u0000-\u0008\u000e-\u001f\u007f-\u009f\ufeff]/g, '')
    : newlines
  return /[\ud800-\udfff]/.test(visible) ? visible.replaceAll(/\p{Surrogate}/gu, '\ufffd') : visible
}
