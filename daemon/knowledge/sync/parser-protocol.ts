/** What the pool of readers and its threads say to each other. */
import type { ChunkingSettings, Passage } from '../chunking/chunk-document.ts'
import type { ParsedDocument } from '../readers/parsed-document.ts'

export interface ChunkedDocument {
  document: { pages: number | null; title: string | null; characters: number }
  passages: Passage[][]
}

/** A document to read, and how it is to be cut; without settings its text is wanted itself. Or the call for the next chunks. */
export type ParserCommand = { kind: 'read'; bytes: Uint8Array; name: string; settings: ChunkingSettings[] | undefined } | { kind: 'next' }

export type ParserEvent =
  | { kind: 'ready' }
  | { kind: 'text'; document: ParsedDocument }
  | { kind: 'cut'; document: ChunkedDocument['document'] }
  /** Some of the chunks of one setting; the pool asks for more until there are none. */
  | { kind: 'chunks'; setting: number; chunks: Passage[]; more: boolean }
  | { kind: 'failure'; reason: string }
