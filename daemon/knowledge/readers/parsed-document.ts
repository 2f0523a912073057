/** What a reader makes of a document's bytes, and what it says when it cannot. */

export interface ParsedDocument {
  /** What passages are cut from; newlines are \n and control characters are gone. */
  text: string
  format: 'markdown' | 'plain' | 'code' | 'table'
  /** Where each page starts in the text, first page first; empty when the document has no pages. */
  pages: { number: number; start: number }[]
  title: string | null
}

/** A document that cannot be read; its message is a sentence for people that says why. */
export class DocumentReadError extends Error {
  override name = 'DocumentReadError'
}

export const EMPTY_DOCUMENT_MESSAGE = 'The document is empty.'

/** Text as passages are cut from it: one kind of newline, no control characters, no half characters. */
export function cleanText(text: string): string {
  const newlines = /[\r\f\v\u0085\u2028\u2029]/.test(text) ? text.replaceAll(/\r\n?|[\f\v\u0085\u2028\u2029]/g, '\n') : text
  const visible = /[^\t\n\u0020-\u007e\u00a0-\ud7ff\ue000-\ufefe\uff00-\uffff]/.test(newlines)
    ? newlines.replaceAll(/[\u0000-\u0008\u000e-\u001f\u007f-\u009f\ufeff]/g, '')
    : newlines
  return /[\ud800-\udfff]/.test(visible) ? visible.replaceAll(/\p{Surrogate}/gu, '\ufffd') : visible
}
