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
  /** Bytes that the document holds in memory until it is read. */
  size?: number
  metadata?: Record<string, unknown>
  /** Why the document cannot be read. */
  problem?: string
  /** Why the file is not a document; it is only counted. */
  skipReason?: string
}

export interface SourceOptions {
  configuration: Record<string, unknown>
  signal: AbortSignal
  /** Directory of the source for clones and pages; created on demand. */
  workDirectory: string
  outbound: Outbound
  auth?: SourceAuth
  /** Default: 1 GB; tests use a lower one. */
  maxRepositoryBytes?: number
  /** Of a repository. Default: a million; tests use a lower one. */
  maxPaths?: number
  /** Of a repository. Default: 100,000; tests use a lower one. */
  maxDocuments?: number
}
