/** Runs the daemon's app in this process on a temporary home, without a port. Every response is checked against the contract. */
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { InjectOptions } from 'fastify'
import { createApp } from '../../daemon/app.ts'
import type { App, AppOptions } from '../../daemon/app-options.ts'
import { type Log, openLog } from '../../daemon/logging/log.ts'
import type { ProviderTimeouts } from '../../daemon/models/providers/http-exchange.ts'
import type { Resolve } from '../../daemon/outbound/guarded-connector.ts'
import { prepareHome } from '../../daemon/process/home.ts'
import { Redactor } from '../../daemon/secrets/redactor.ts'
import { openVault } from '../../daemon/secrets/vault.ts'
import type { Database, Value } from '../../daemon/store/database.ts'
import { homePaths, type Paths } from '../../src/config.ts'
import { ROLES, type Role } from '../../src/contract/route.ts'
import { version } from '../../src/version.ts'
import { checkResponse } from './check-response.ts'
import { checkStreams } from './check-streams.ts'
import { getTestStorage } from './object-store/test-storage.ts'
import { connectTestDatabase, createTestDatabase, deleteTestDatabase } from './sqld/test-database.ts'

export const ADMIN_TOKEN = 'cadre_admin-token-of-the-tests-0123456789abcdef'
export const MEMBER_USER = 'ada'

// biome-ignore lint/suspicious/noExplicitAny: tests inspect bodies of every shape; checkResponse has validated them
export type Json = any

export interface TestResponse {
  status: number
  headers: Record<string, unknown>
  text: string
  body: Json
  data: Json
}

export interface CallOptions {
  /** A role, a token, or null for no token. */
  as?: Role | (string & {}) | null
  headers?: Record<string, string>
  /** A raw body, sent unchanged. */
  raw?: string | Buffer
}

export interface TestServerOptions
  extends Pick<AppOptions, 'clock' | 'random' | 'disk' | 'exactRows' | 'recognizer' | 'databaseServer' | 'storage' | 'tracer'> {
  home?: string
  rateLimit?: number
  /** Limit of the admin token. Default: rateLimit. */
  ownerRateLimit?: number
  /** DNS resolver. */
  resolve?: Resolve
  /** Timeouts of providers. */
  providerTimes?: Partial<ProviderTimeouts>
  /** API keys and servers for model discovery. Default: none. */
  surroundings?: { keys?: Record<string, string>; servers?: string[] }
}

/** An empty database of the runner with all migrations: applying them takes 0.1 s of CPU time, copying the file almost none. */
const MIGRATED_DATABASE = process.env.CADRE_TEST_MIGRATED_DATABASE

/** Of all servers with the same database. */
const SHARED_VAULT_KEY = Buffer.alloc(32, 'vault').toString('base64')

const NO_KEYCHAIN = {
  read: () => Promise.reject(new Error('no keychain in tests')),
  write: () => Promise.reject(new Error('no keychain in tests')),
}

export class TestServer {
  readonly paths: Paths
  readonly app: App
  /** The Host header; with the port if the server listens. */
  host = '127.0.0.1'
  readonly #logger: Log
  readonly #streamErrors: Error[]
  readonly #tokens = new Map<string, string>([['admin', ADMIN_TOKEN]])
  #database: Database | undefined

  private constructor(paths: Paths, app: App, log: Log, streamErrors: Error[]) {
    this.paths = paths
    this.app = app
    this.#logger = log
    this.#streamErrors = streamErrors
  }

  static async start({
    home: existing,
    rateLimit = 0,
    ownerRateLimit = rateLimit,
    resolve,
    providerTimes,
    surroundings = {},
    ...timing
  }: TestServerOptions = {}): Promise<TestServer> {
    const paths = homePaths({ CADRE_HOME: existing ?? join(mkdtempSync(join(tmpdir(), 'cadre-app-')), 'home') })
    prepareHome(paths)
    const databaseServer = timing.databaseServer ?? (await createTestDatabase(paths))
    if (existing === undefined && !databaseServer && MIGRATED_DATABASE) copyFileSync(MIGRATED_DATABASE, paths.database)
    const redactor = new Redactor()
    const log = openLog({ path: paths.log, level: 'debug', redactor })
    const sharedKey = timing.databaseServer && SHARED_VAULT_KEY
    const vault = await openVault({ paths, keychain: NO_KEYCHAIN, redactor, sharedKey })
    const app = await createApp({
      paths,
      storage: getTestStorage(paths),
      logger: log.logger,
      vault,
      rateLimit,
      ownerRateLimit,
      version,
      modelDiscovery: { keys: {}, servers: [], ...surroundings },
      adminToken: ADMIN_TOKEN,
      resolve,
      providerTimeouts: providerTimes,
      keepToken: async (token) => redactor.add(token),
      readToken: async () => ADMIN_TOKEN,
      ...timing,
      databaseServer,
    })
    const streamErrors = checkStreams(app.server)
    await app.server.ready()
    return new TestServer(paths, app, log, streamErrors)
  }

  /** Another connection to the database. It does not cache rows, because it does not notice commits of the app. */
  get database(): Database {
    this.#database ??= connectTestDatabase(this.paths)
    const { all } = this.#database
    return { ...this.#database, get: async <T>(sql: string, values: readonly Value[] = []) => (await all<T>(sql, values))[0] }
  }

  get log(): string {
    return readFileSync(this.paths.log, 'utf8')
  }

  /** Returns a token of the role, created on first use. */
  async token(role: Role): Promise<string> {
    const known = this.#tokens.get(role)
    if (known) return known
    const { data } = await this.post('/tokens', { name: role, role, ...(role === 'member' ? { user_id: MEMBER_USER } : {}) })
    this.#tokens.set(role, data.token)
    return data.token
  }

  async call(method: string, path: string, body?: unknown, { as = 'admin', headers = {}, raw }: CallOptions = {}): Promise<TestResponse> {
    const token = as === null ? undefined : ROLES.includes(as as Role) ? await this.token(as as Role) : as
    const url = /^\/(api\/|v1\/|docs|$)/.test(path) ? path : `/api${path}`
    const payload = raw ?? (body === undefined ? undefined : JSON.stringify(body))
    const sentHeaders = {
      ...(payload === undefined ? {} : { 'content-type': 'application/json' }),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...headers,
    }
    const options = {
      method,
      url,
      headers: { host: this.host, ...sentHeaders },
      ...(payload === undefined ? {} : { payload }),
    } as InjectOptions
    const response = await this.app.server.inject(options)
    const observed = { status: response.statusCode, headers: response.headers as Record<string, unknown>, text: response.payload }
    checkResponse({ method, url, ...observed })
    const json =
      String(response.headers['content-type']).startsWith('application/json') && response.payload !== ''
        ? (JSON.parse(response.payload) as Json)
        : undefined
    return { ...observed, body: json, data: json?.data }
  }

  get = (path: string, options?: CallOptions) => this.call('GET', path, undefined, options)
  post = (path: string, body?: unknown, options?: CallOptions) => this.call('POST', path, body, options)
  put = (path: string, body?: unknown, options?: CallOptions) => this.call('PUT', path, body, options)
  patch = (path: string, body?: unknown, options?: CallOptions) => this.call('PATCH', path, body, options)
  delete = (path: string, options?: CallOptions) => this.call('DELETE', path, undefined, options)

  /** Stops the app and keeps the home for another start. */
  async stop(): Promise<string> {
    await this.#database?.close()
    this.#database = undefined
    await this.app.close()
    this.#logger.close()
    if (this.#streamErrors[0]) throw this.#streamErrors[0]
    return this.paths.home
  }

  async close(): Promise<void> {
    rmSync(await this.stop(), { recursive: true, force: true })
    await deleteTestDatabase(this.paths)
  }
}
