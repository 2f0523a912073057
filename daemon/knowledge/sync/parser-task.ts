/** What the parser processes do. */
import type { Places } from '../../core/places.ts'
import type { OriginalContent } from '../../store/original-store.ts'
import type { Passage } from '../chunking/chunk-document.ts'
import type { ChunkingSettings } from '../chunking/chunking-settings.ts'
import type { EarlierMails, ExpandedDocument, MemberSelection } from '../readers/containers/expand-container.ts'
import type { Recognition } from '../recognition/recognized-page.ts'

/** Receives passages of one chunking, in order. The next ones are requested when it resolves. */
export type OnPassages = (setting: number, passages: Passage[]) => Promise<void>

/** Receives documents of a container, in order. The next ones are requested when it resolves. */
export type OnDocuments = (documents: ExpandedDocument[]) => Promise<void>

/** A range of lines, from 1, both included. */
export interface LineRange {
  from: number
  /** Where the first line begins, from 1. */
  fromCharacter?: number
  to: number
  /** Fewer lines are returned if they are longer; a single line is cut. */
  maxCharacters: number
}

/** Lines of a document. */
export interface DocumentText {
  text: string
  from: number
  /** The last line that is part of the text. */
  to: number
  /** Number of lines of the document. */
  lines: number
  /** The next character of the last line, if it was cut. */
  nextCharacter?: number
  /** Pages without text that text recognition has not read yet. */
  scans?: readonly number[]
}

/** What is stored of a document besides its passages. */
export interface DocumentSummary {
  /** Number of pages, slides or sheets. */
  pages: number | null
  places: Places | null
  notice: string | null
  /** Why the document has no text although it is intact. */
  skipReason: string | null
  /** Pages without text that text recognition has not read yet. */
  scans: readonly number[]
}

/**
 * `parse` sends passages in batches and returns the last one with the summary, `summarize` only the summary; `read` returns lines;
 * `expand` sends the documents of a container.
 */
export type ParserTask =
  | (DocumentTask & { kind: 'parse'; settings: ChunkingSettings[] })
  | (DocumentTask & { kind: 'summarize' })
  | (DocumentTask & { kind: 'read'; range: LineRange })
  | { kind: 'expand'; content: OriginalContent; name: string; selection: MemberSelection; earlier?: EarlierMails | undefined }

export interface DocumentTask {
  content: OriginalContent
  name: string
  /** Default: scanned pages are not read. */
  recognition?: Recognition
}

export type ParserResult =
  /** `last` is the last batch. Most documents have only one, which then needs no message of its own. */
  | { kind: 'parsed'; summary: DocumentSummary; last?: PassageBatch | undefined }
  | { kind: 'text'; text: DocumentText }
  | { kind: 'expanded' }

export type ParserPart = PassageBatch | { documents: ExpandedDocument[] }

export interface PassageBatch {
  /** Index of the chunking settings. */
  setting: number
  passages: Passage[]
}
