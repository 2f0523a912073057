/** Paths, settings, and the environment variables of commands and the daemon. */
import { existsSync, mkdirSync, readFileSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import envPaths from 'env-paths'
import { parseStorageUrl } from './storage-settings.ts'

export const DEFAULT_PORT = 7411
export const DEFAULT_RATE_LIMIT = 100
/** Of the admin token in the keychain: the owner's commands should not wait, but a script in an endless loop should. */
export const DEFAULT_OWNER_RATE_LIMIT = 6_000
/** Exit code of a daemon whose home is used by another one. */
export const EXIT_HOME_IN_USE = 75

export type Paths = ReturnType<typeof homePaths>
type Environment = Record<string, string | undefined>

export function homePaths(environment: Environment = process.env) {
  const home = resolve(environment.CADRE_HOME || envPaths('cadre', { suffix: '' }).data)
  const resolveName = (name: string) => join(home, name)
  return {
    home,
    database: resolveName('cadre.db'),
    lock: resolveName('cadre.lock'),
    vectors: resolveName('vectors'),
    /** Describes the files in `vectors` while no daemon runs. */
    stopRecord: resolveName('vectors.stopped'),
    documents: resolveName('documents'),
    /** Temporary data such as clones of repositories. */
    work: resolveName('work'),
    /** Data of languages that were added to text recognition. */
    languages: resolveName('languages'),
    logs: resolveName('logs'),
    log: join(home, 'logs', 'daemon.log'),
    /** Written when the daemon is ready, removed when it stops. */
    daemon: resolveName('daemon.json'),
    /** The admin token if there is no keychain. */
    token: resolveName('token'),
    /** The vault key if there is no keychain. */
    vaultKey: resolveName('vault.key'),
    /** Location of the vault key. */
    vault: resolveName('vault.json'),
    /** Copies of a bucket. */
    cache: resolveName('cache'),
    settings: resolveName('config.json'),
    /** Addresses of remote services; also their tokens if there is no keychain. */
    profiles: resolveName('profiles.json'),
    /** Messages typed in the chat. */
    history: resolveName('chat-history'),
  }
}

/** Creates a private directory and its parents. The `recursive` option of Node hangs if a parent accepts no entries, as in /proc. */
export function ensureDirectory(directory: string): void {
  if (statSync(directory, { throwIfNoEntry: false })) return
  const parent = dirname(directory)
  if (parent !== directory) ensureDirectory(parent)
  try {
    mkdirSync(directory, { mode: 0o700 })
  } catch (error) {
    // Created by another process meanwhile.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}

/** Settings of `cadre config`. */
export interface Settings {
  url?: string
  token?: string
  output?: 'table' | 'json' | 'yaml' | 'csv'
  start?: boolean
  /** Default agent of `ask` and `chat`. */
  agent?: string
  /** Whether messages typed in the chat are stored. Default: true. */
  history?: boolean
  /** URL of a libSQL server for the records. Default: a file in the home. */
  'database-url'?: string
  /** Its token, if there is no keychain. */
  'database-token'?: string
  /** URL of a bucket for documents and vectors. Default: folders in the home. */
  'storage-url'?: string
}

export function readSettings(paths: Paths): Settings {
  return readJsonFile(paths.settings) as Settings
}

export function writeSettings(paths: Paths, change: (current: Settings) => Settings): Promise<Settings> {
  return changeJsonFile(paths.settings, change)
}

/** Returns an empty object if there is no such file. */
export function readJsonFile(file: string): object {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as object
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return {}
    if (syscall !== undefined) throw error
    throw new Error(`Cannot read the settings in ${file}: ${(error as Error).message}`, { cause: error })
  }
}

/** Writes a file that only its owner can read. Loads Conf only for writing: loading it takes longer than a short command. */
export async function changeJsonFile<T extends object>(file: string, change: (current: T) => T): Promise<T> {
  ensureDirectory(dirname(file))
  const { default: Conf } = await import('conf')
  const options = { cwd: dirname(file), configName: basename(file, '.json'), configFileMode: 0o600, clearInvalidConfig: false }
  const store = new Conf<T & Record<string, unknown>>(options)
  store.store = change(store.store) as T & Record<string, unknown>
  return store.store
}

function readInteger(environment: Environment, name: string, minimum: number, maximum: number): number | undefined {
  const text = environment[name]
  if (text === undefined || text === '') return undefined
  const value = Number(text)
  if (!Number.isInteger(value) || value < minimum || value > maximum)
    throw new Error(`${name} must be an integer from ${minimum} to ${maximum}, not "${text}".`)
  return value
}

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

function readEnum<const Word extends string>(environment: Environment, name: string, words: readonly Word[]): Word | undefined {
  const text = environment[name]
  if (text === undefined || text === '') return undefined
  const word = words.find((candidate) => candidate === text)
  if (word === undefined) throw new Error(`${name} must be one of ${words.join(', ')}, not "${text}".`)
  return word
}

function readUrls(environment: Environment, name: string): string[] | undefined {
  const text = environment[name]
  if (text === undefined || text === '') return undefined
  const urls = text === 'none' ? [] : text.split(/[\s,]+/).filter(Boolean)
  for (const url of urls)
    if (!/^https?:/.test(url) || !URL.canParse(url))
      throw new Error(`${name} must be "none" or URLs such as http://127.0.0.1:11434/v1, not "${url}".`)
  return urls
}

/** Returns the URL of a libSQL server without a trailing slash. Throws an error that explains what is wrong with it. */
export function parseDatabaseUrl(text: string, name: string): string {
  const example = 'such as libsql://records.example.com or ws://127.0.0.1:8080'
  if (!/^(libsql|https?|wss?):\/\/[^/]/i.test(text) || !URL.canParse(text))
    throw new Error(`${name} must be the URL of a libSQL server, ${example}, not "${hidePassword(text)}".`)
  const url = new URL(text)
  // Addresses are shown and logged.
  if (url.username || url.password || url.search || url.hash)
    throw new Error(`${name} must not contain a token, a user name or parameters. Set the token with CADRE_DATABASE_TOKEN.`)
  return text.replace(/\/+$/, '')
}

const hidePassword = (url: string) => url.replace(/\/\/[^/@]*@/, '//…@').replace(/[?#].*$/s, '')

/** The variable, or the content of the file that the variable with the suffix `_FILE` names. */
function readSecret(environment: Environment, name: string): string | undefined {
  const file = environment[`${name}_FILE`]
  if (environment[name] || !file) return environment[name] || undefined
  try {
    return readFileSync(file, 'utf8').trim()
  } catch (error) {
    throw new Error(`Cannot read the file in ${name}_FILE: ${(error as Error).message}`, { cause: error })
  }
}

export function environmentOverrides(environment: Environment = process.env) {
  return {
    url: environment.CADRE_URL || undefined,
    token: environment.CADRE_TOKEN || undefined,
    profile: environment.CADRE_PROFILE || undefined,
    port: readInteger(environment, 'CADRE_PORT', 0, 65_535),
    rateLimit: readInteger(environment, 'CADRE_RATE_LIMIT', 0, 1_000_000_000),
    logLevel: readEnum(environment, 'CADRE_LOG_LEVEL', LOG_LEVELS),
    /** URLs of model servers to probe instead of the default ports. */
    modelServers: readUrls(environment, 'CADRE_MODEL_SERVERS'),
    databaseUrl: environment.CADRE_DATABASE_URL ? parseDatabaseUrl(environment.CADRE_DATABASE_URL, 'CADRE_DATABASE_URL') : undefined,
    databaseToken: environment.CADRE_DATABASE_TOKEN || undefined,
    storageUrl: environment.CADRE_STORAGE_URL ? parseStorageUrl(environment.CADRE_STORAGE_URL, 'CADRE_STORAGE_URL') : undefined,
    /** Maximum size of the local copies of a bucket. */
    cacheMegabytes: readInteger(environment, 'CADRE_CACHE_MB', 1, 100_000_000),
    /** The key of the vault, which daemons of one database share. */
    vaultKey: readSecret(environment, 'CADRE_VAULT_KEY'),
    /** False if CADRE_KEYCHAIN=off: secrets are stored in the home. */
    keychain: readEnum(environment, 'CADRE_KEYCHAIN', ['on', 'off']) !== 'off',
  }
}

/** Reads a variable named by the user, so that secrets need not appear on the command line. */
export function readEnvironmentVariable(name: string, environment: Environment = process.env): string | undefined {
  return environment[name] || undefined
}

const PROVIDER_KEYS = ['OPENAI_API_KEY', 'ANTHROPIC_API_KEY', 'GEMINI_API_KEY', 'GOOGLE_GENERATIVE_AI_API_KEY']

/** Returns the API keys of model providers and removes them from the environment, so that child processes do not inherit them. */
export function takeProviderKeys(environment: Environment = process.env): Record<string, string> {
  const keys: Record<string, string> = {}
  for (const name of PROVIDER_KEYS) {
    const key = environment[name]?.trim()
    delete environment[name]
    // Other characters indicate a placeholder.
    if (key && /^[\x21-\x7e]+$/.test(key)) keys[name] = key
  }
  return keys
}

/** On Linux the keychain is accessed over the session bus. */
export function isSessionBusReachable(environment: Environment = process.env): boolean {
  if (environment.DBUS_SESSION_BUS_ADDRESS || environment.DISPLAY) return true
  return environment.XDG_RUNTIME_DIR !== undefined && existsSync(join(environment.XDG_RUNTIME_DIR, 'bus'))
}

/** The daemon of a home, as daemon.json describes it. */
export interface DaemonRecord {
  pid: number
  url: string
  version: string
  started_at: string
  /** Its command-line options, with which a newer version is started. Missing in records of version 0.1. */
  options?: string[]
  /** Whether a service manager, a container or a terminal runs it, which restarts it itself. */
  foreground?: boolean
}

/** Leaves out the secret, because commands print records. */
export function readDaemonRecord(paths: Paths): DaemonRecord | undefined {
  try {
    const { secret: _, ...record } = JSON.parse(readFileSync(paths.daemon, 'utf8')) as DaemonRecord & { secret?: string }
    return record
  } catch {
    return undefined // missing or incomplete
  }
}

/**
 * By default, glibc reserves memory for each thread of LanceDB, and keeps freed buffers of up to 32 MB for later ones; indexing a large
 * table then needs 200 MB more.
 */
export const DAEMON_ENVIRONMENT = { MALLOC_ARENA_MAX: '2', MALLOC_MMAP_THRESHOLD_: '131072' }

/** The environment of a daemon that a command starts. */
export const createDaemonEnvironment = (environment: Environment = process.env): Environment => ({ ...DAEMON_ENVIRONMENT, ...environment })

/** LanceDB reads these variables once, on import. With only as many threads as cores its index builds can deadlock. */
export function configureLance(environment: Environment = process.env): void {
  environment.LANCE_CPU_THREADS ??= '4'
  // The default is one per core, each with buffers of its own. Most time of a sync is spent on embedding.
  environment.LANCE_FTS_NUM_SHARDS ??= '1'
  // In MB. A part of the full-text index is in memory while it is built; with many small parts, searches take longer.
  environment.LANCE_FTS_PARTITION_SIZE ??= '32'
  environment.LANCEDB_LOG ??= 'error'
}
