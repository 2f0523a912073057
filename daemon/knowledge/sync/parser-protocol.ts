/** Messages between the parser pool and its worker threads. */
import type { Passage } from '../chunking/chunk-document.ts'
import type { ChunkingSettings } from '../chunking/chunking-settings.ts'

export interface ChunkedDocument {
  pages: number | null
  /** One list of passages for each chunking. */
  passages: Passage[][]
}

/** `next` requests the next batch of passages. */
export type ParserCommand = { kind: 'parse'; bytes: Uint8Array; name: string; settings: ChunkingSettings[] } | { kind: 'next' }

export type ParserEvent =
  | { kind: 'ready' }
  | { kind: 'chunked'; pages: number | null }
  | { kind: 'passages'; setting: number; passages: Passage[]; more: boolean }
  | { kind: 'failure'; reason: string }
