/** A document that a source has found but not yet read, and the options of finding documents. */
import type { SourceAuth } from '../../../src/contract/schemas/source-configurations.ts'
import type { Outbound } from '../../outbound/client.ts'

export interface SourceDocument {
  /** Stable within the source: a relative path with slashes, or the URL of a page. */
  name: string
  /** Content is only read again if this changes. */
  fingerprint: string
  /** Throws CadreError if the document cannot be read. */
  read(signal: AbortSignal): Promise<Uint8Array>
  /** File type, if the name has no extension. */
  type?: string
  metadata?: Record<string, unknown>
  /** Why the document cannot be read. */
  problem?: string
}

export interface SourceOptions {
  configuration: Record<string, unknown>
  signal: AbortSignal
  /** Directory of the source for clones and pages; created on demand. */
  workDirectory: string
  outbound: Outbound
  auth?: SourceAuth
}
