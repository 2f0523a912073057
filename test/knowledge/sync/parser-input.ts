/** Input of parser pools in tests. */
import type { ParserInput } from '../../../daemon/knowledge/sync/parser-pool.ts'

export const createInput = (bytes: Uint8Array, name: string): ParserInput => ({ name, size: bytes.length, read: async () => bytes })

/** Handlers of a document whose passages are not needed. */
export const DISCARD = { onPassages: async () => undefined, onRestart: async () => undefined }
