/** Messages between the parser pool and its worker threads. */
import type { ChunkingSettings, Passage } from '../chunking/chunk-document.ts'
import type { ParsedDocument } from '../readers/parsed-document.ts'

export interface ChunkedDocument {
  document: { pages: number | null; title: string | null; characters: number }
  /** One list of passages for each chunking. */
  passages: Passage[][]
}

/** `read` without settings returns the text itself. `next` requests the next batch of passages. */
export type ParserCommand = { kind: 'read'; bytes: Uint8Array; name: string; settings: ChunkingSettings[] | undefined } | { kind: 'next' }

export type ParserEvent =
  | { kind: 'ready' }
  | { kind: 'text'; document: ParsedDocument }
  | { kind: 'chunked'; document: ChunkedDocument['document'] }
  | { kind: 'passages'; setting: number; passages: Passage[]; more: boolean }
  | { kind: 'failure'; reason: string }
