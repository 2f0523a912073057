/** What a source hands to its synchronization: documents as they are found, not yet read. */
import type { SourceAuth } from '../../../src/contract/families/source-configurations.ts'
import type { Outbound } from '../../outbound/client.ts'

export interface SourceDocument {
  /** Stable within the source: a relative path with / between its parts, or a page's address. */
  name: string
  /** Cheap to get; while it stays the same, the content is not read again. */
  fingerprint: string
  /** Reads it now; what cannot be read is refused with a CadreError whose message is a sentence. */
  read(signal: AbortSignal): Promise<Uint8Array>
  /** File type, where the name does not end in it. */
  type?: string
  metadata?: Record<string, unknown>
  /** Why it cannot be taken, as a sentence; it is not read then. */
  problem?: string
}

export interface SourceOptions {
  configuration: Record<string, unknown>
  signal: AbortSignal
  /** A directory of this source's own in the home, for clones and pages; made when it is needed. */
  workDirectory: string
  outbound: Outbound
  /** What it proves itself with; nothing where that is not needed. */
  auth?: SourceAuth
}
