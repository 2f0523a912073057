/** Messages between the parser pool and its worker threads. */
import type { Passage } from '../chunking/chunk-document.ts'
import type { ChunkingSettings } from '../chunking/chunking-settings.ts'

/** Receives passages of one chunking, in order. The next ones are requested when it resolves. */
export type OnPassages = (setting: number, passages: Passage[]) => Promise<void>

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
}

/** `next` requests the next batch of passages. */
export type ParserCommand =
  | { kind: 'parse'; bytes: Uint8Array; name: string; settings: ChunkingSettings[] }
  | { kind: 'read'; bytes: Uint8Array; name: string; range: LineRange }
  | { kind: 'next' }

export type ParserEvent =
  | { kind: 'ready' }
  | { kind: 'chunked'; pages: number | null }
  | { kind: 'passages'; setting: number; passages: Passage[] }
  | { kind: 'end' }
  | { kind: 'text'; result: DocumentText }
  | { kind: 'failure'; reason: string }
