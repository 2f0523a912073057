/** Where state lives and what the user set: the only reader of the environment, the paths and the settings file. */
import { existsSync, mkdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import envPaths from 'env-paths'

export const DEFAULT_PORT = 7411
export const DEFAULT_RATE_LIMIT = 100
/** What the daemon exits with when another one holds the home. */
export const EXIT_HOME_IN_USE = 75

export interface Paths {
  home: string
  database: string
  lock: string
  vectors: string
  documents: string
  models: string
  /** Clones of repositories and the like, which can be made again. */
  work: string
  logs: string
  log: string
  /** Written when the daemon is ready, removed when it stops. */
  daemon: string
  /** The admin token, where there is no keychain. */
  token: string
  /** The vault's key, where there is no keychain. */
  vaultKey: string
  /** Says where the vault's key is kept. */
  vault: string
  settings: string
}

type Environment = Record<string, string | undefined>

export function homePaths(environment: Environment = process.env): Paths {
  const home = resolve(environment.CADRE_HOME || envPaths('cadre', { suffix: '' }).data)
  const inside = (name: string) => join(home, name)
  return {
    home,
    database: inside('cadre.db'),
    lock: inside('cadre.lock'),
    vectors: inside('vectors'),
    documents: inside('documents'),
    models: inside('models'),
    work: inside('work'),
    logs: inside('logs'),
    log: join(home, 'logs', 'daemon.log'),
    daemon: inside('daemon.json'),
    token: inside('token'),
    vaultKey: inside('vault.key'),
    vault: inside('vault.json'),
    settings: inside('config.json'),
  }
}

/** A directory of one user's own, with its parents. Node's own `recursive` never returns where a parent exists but takes no entries, as in /proc. */
export function ensureDirectory(folder: string): void {
  if (statSync(folder, { throwIfNoEntry: false })) return
  const parent = dirname(folder)
  if (parent !== folder) ensureDirectory(parent)
  try {
    mkdirSync(folder, { mode: 0o700 })
  } catch (error) {
    // Another process may just have made it.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}

/** What `cadre config` keeps. */
export interface Settings {
  url?: string
  token?: string
  output?: 'table' | 'json' | 'yaml' | 'csv'
  start?: boolean
  /** Whom `ask` and `chat` ask when nobody is named. */
  agent?: string
}

export function readSettings(paths: Paths): Settings {
  try {
    return JSON.parse(readFileSync(paths.settings, 'utf8')) as Settings
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return {}
    if (syscall !== undefined) throw error
    throw new Error(`The settings in ${paths.settings} cannot be read: ${(error as Error).message}`, { cause: error })
  }
}

/** Conf is loaded only to write: it costs more than all of a short command. */
export async function writeSettings(paths: Paths, change: (current: Settings) => Settings): Promise<Settings> {
  ensureDirectory(paths.home)
  const { default: Conf } = await import('conf')
  const store = new Conf<Settings>({ cwd: paths.home, configName: 'config', configFileMode: 0o600, clearInvalidConfig: false })
  store.store = change(store.store)
  return store.store
}

function readInteger(environment: Environment, name: string, minimum: number, maximum: number): number | undefined {
  const text = environment[name]
  if (text === undefined || text === '') return undefined
  const value = Number(text)
  if (!Number.isInteger(value) || value < minimum || value > maximum)
    throw new Error(`${name} must be a whole number from ${minimum} to ${maximum}, not "${text}".`)
  return value
}

export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

function readEnum<const Word extends string>(environment: Environment, name: string, words: readonly Word[]): Word | undefined {
  const text = environment[name]
  if (text === undefined || text === '') return undefined
  const word = words.find((each) => each === text)
  if (word === undefined) throw new Error(`${name} must be one of ${words.join(', ')}, not "${text}".`)
  return word
}

function readUrls(environment: Environment, name: string): string[] | undefined {
  const text = environment[name]
  if (text === undefined || text === '') return undefined
  const given = text === 'none' ? [] : text.split(/[\s,]+/).filter(Boolean)
  for (const address of given)
    if (!/^https?:/.test(address) || !URL.canParse(address))
      throw new Error(`${name} must be addresses such as http://127.0.0.1:11434/v1, or none, not "${address}".`)
  return given
}

export interface EnvironmentOverrides {
  url: string | undefined
  token: string | undefined
  port: number | undefined
  rateLimit: number | undefined
  logLevel: LogLevel | undefined
  /** Where to look for model servers, instead of their usual ports. */
  modelServers: string[] | undefined
  /** False when CADRE_KEYCHAIN=off: secrets then stay in the home. */
  keychain: boolean
}

export function environmentOverrides(environment: Environment = process.env): EnvironmentOverrides {
  return {
    url: environment.CADRE_URL || undefined,
    token: environment.CADRE_TOKEN || undefined,
    port: readInteger(environment, 'CADRE_PORT', 0, 65_535),
    rateLimit: readInteger(environment, 'CADRE_RATE_LIMIT', 0, 1_000_000_000),
    logLevel: readEnum(environment, 'CADRE_LOG_LEVEL', LOG_LEVELS),
    modelServers: readUrls(environment, 'CADRE_MODEL_SERVERS'),
    keychain: readEnum(environment, 'CADRE_KEYCHAIN', ['on', 'off']) !== 'off',
  }
}

/** A variable that the user named for a command to read, so that a secret need not stand in the command itself. */
export function readEnvironmentVariable(name: string, environment: Environment = process.env): string | undefined {
  return environment[name] || undefined
}

const PROVIDER_KEYS = ['OPENAI_API_KEY', 'ANTHROPIC_API_KEY', 'GEMINI_API_KEY', 'GOOGLE_GENERATIVE_AI_API_KEY']

/** The keys of model providers, by the names of their variables. They are taken out: programs started from here have no use for them. */
export function takeProviderKeys(environment: Environment = process.env): Record<string, string> {
  const keys: Record<string, string> = {}
  for (const name of PROVIDER_KEYS) {
    const key = environment[name]?.trim()
    delete environment[name]
    // What is no key in any provider's eyes is most likely a placeholder.
    if (key && /^[\x21-\x7e]+$/.test(key)) keys[name] = key
  }
  return keys
}

/** On Linux the keychain is reached over the session's bus; asking without one only costs time. */
export function isSessionBusReachable(environment: Environment = process.env): boolean {
  if (environment.DBUS_SESSION_BUS_ADDRESS || environment.DISPLAY) return true
  return environment.XDG_RUNTIME_DIR !== undefined && existsSync(join(environment.XDG_RUNTIME_DIR, 'bus'))
}

/** What the running daemon says of itself in daemon.json. */
export interface DaemonRecord {
  pid: number
  url: string
  version: string
  started_at: string
}

export function readDaemonRecord(paths: Paths): DaemonRecord | undefined {
  try {
    return JSON.parse(readFileSync(paths.daemon, 'utf8')) as DaemonRecord
  } catch {
    return undefined // absent or half gone: either way nobody announced a daemon
  }
}

/** LanceDB reads these once, when it is loaded: with no more threads than cores its index builds wait on themselves for ever. */
export function configureLance(environment: Environment = process.env): void {
  environment.LANCE_CPU_THREADS ??= '4'
  environment.LANCEDB_LOG ??= 'error'
}
