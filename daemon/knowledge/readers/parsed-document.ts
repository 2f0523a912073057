/** The result of reading a document, and the error of a document that cannot be read. */
import type { Places } from '../../core/places.ts'

export interface DocumentPart {
  /** Newlines are \n; control characters are removed. */
  text: string
  /** Offset of each page in the text, in order; empty if the document has no pages. */
  pages: { number: number; start: number }[]
}

export interface ParsedDocument extends DocumentPart {
  format: 'markdown' | 'plain' | 'code' | 'config' | 'table'
  title: string | null
  /** What the pages are, if they are slides or sheets for example. Their names are headings of the passages. */
  places?: Places
  /** What could not be read, in one sentence, such as macros. */
  notice?: string
  /** Why the document has no text although it is intact, such as a photo without text. */
  skipReason?: string
  /** Pages without text that text recognition has not read yet. */
  scans?: readonly number[]
  /** Further parts of a large table or workbook, each after an empty line. They are created when they are read. */
  rest?: () => Iterable<DocumentPart>
}

/** A document that cannot be read; the message explains why. */
export class DocumentReadError extends Error {
  override name = 'DocumentReadError'
}

export const EMPTY_DOCUMENT_MESSAGE = 'The document is empty.'

/** Joins the texts that are not empty. */
export const joinTexts = (texts: readonly string[], separator: string): string => texts.filter((text) => text !== '').join(separator)

/** Normalizes newlines, removes control characters and replaces lone surrogates. The tests avoid copying clean text. */
export function cleanText(text: string): string {
  const newlines = /[\r\f\v\u0085\u2028\u2029]/.test(text) ? text.replaceAll(/\r\n?|[\f\v\u0085\u2028\u2029]/g, '\n') : text
  const visible = /[^\t\n\u0020-\u007e\u00a0-\ud7ff\ue000-\ufefe\uff00-\uffff]/.test(newlines)
    ? newlines.replaceAll(/[\u0000-\u0008\u000e-\u001f\u007f-\u009f\ufeff]/g, '')
    : newlines
  return /[\ud800-\udfff]/.test(visible) ? visible.replaceAll(/\p{Surrogate}/gu, '\ufffd') : visible
}
