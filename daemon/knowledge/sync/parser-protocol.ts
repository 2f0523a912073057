/** Messages between the parser pool and its worker threads. */
import type { Passage } from '../chunking/chunk-document.ts'
import type { ChunkingSettings } from '../chunking/chunking-settings.ts'

/** Receives passages of one chunking, in order. The next ones are requested when it resolves. */
export type OnPassages = (setting: number, passages: Passage[]) => Promise<void>

/** `next` requests the next batch of passages. */
export type ParserCommand = { kind: 'parse'; bytes: Uint8Array; name: string; settings: ChunkingSettings[] } | { kind: 'next' }

export type ParserEvent =
  | { kind: 'ready' }
  | { kind: 'chunked'; pages: number | null }
  | { kind: 'passages'; setting: number; passages: Passage[] }
  | { kind: 'end' }
  | { kind: 'failure'; reason: string }
