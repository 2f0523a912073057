/** The options of the application and the handle it returns. */
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import type { Paths } from '../src/config.ts'
import type { Clock } from './async/clock.ts'
import type { PageRecognizer } from './knowledge/recognition/recognition-pool.ts'
import type { DiscoveryOptions } from './models/model-discovery.ts'
import type { ProviderTimeouts } from './models/providers/http-exchange.ts'
import type { Resolve } from './outbound/guarded-connector.ts'
import type { Vault } from './secrets/vault.ts'
import type { Storage } from './store/objects/open-bucket.ts'
import type { ServerAddress } from './store/remote/server-connection.ts'
import type { WriteAheadLog } from './store/write-ahead-log.ts'
import type { Tracer } from './telemetry/tracing/tracer.ts'

export interface AppOptions {
  paths: Paths
  /** A libSQL server for the records. Default: a file in the home. */
  databaseServer?: ServerAddress | undefined
  /** A bucket for documents and vectors. Default: folders in the home. */
  storage?: Storage | undefined
  logger: FastifyBaseLogger
  vault: Vault
  /** Requests per minute and token; 0 means unlimited. */
  rateLimit: number
  /** Requests per minute of the token that the CLI of the owner uses. */
  ownerRateLimit: number
  version: string
  modelDiscovery: DiscoveryOptions
  /** The admin token to create at the first start; generated if undefined. */
  adminToken: string | undefined
  /** The secret in daemon.json. Undefined if no daemon.json is written. */
  secret?: string | undefined
  /** Creates a new admin token for an owner who lost it. */
  recoverToken?: boolean | undefined
  /** Replaces the system's DNS resolver in tests. */
  resolve?: Resolve | undefined
  providerTimeouts?: Partial<ProviderTimeouts> | undefined
  /** Records traces, if they are enabled. */
  tracer?: Tracer | undefined
  /** Saves the first admin token for the CLI. Called before the token is stored in the database. */
  keepToken(token: string): Promise<void>
  /** Reads the token that was saved for the CLI. */
  readToken(): Promise<string | undefined>
  /** The clock and the jitter of webhook deliveries; tests replace them. */
  clock?: Clock
  random?: () => number
  /** Replaces how commits are flushed, for tests with a slow disk. */
  disk?: (databasePath: string) => WriteAheadLog
  /** Largest number of passages that are searched without a vector index; tests use a lower one. */
  exactRows?: number
  /** Replaces the processes that recognise text; tests use a scripted one. */
  recognizer?: PageRecognizer
}

export interface App {
  server: FastifyInstance
  /** Rejects new requests with 503. */
  drain(): void
  close(): Promise<void>
  /** Sets the address that the server listens on. */
  listening(url: string): void
}
