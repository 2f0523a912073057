/** Command-line options of the daemon. Environment variables and settings are read by src/config.ts. */
import { isIPv4, isIPv6 } from 'node:net'
import { parseArgs } from 'node:util'
import { DEFAULT_PORT, parseDatabaseUrl } from '../../src/config.ts'
import { parseStorageUrl } from '../../src/storage-settings.ts'

export interface DaemonOptions {
  host: string
  port: number
  verbose: boolean
  /** Whether the process that started it waits for it. */
  foreground: boolean
  /** Whether other machines can reach the address. */
  isRemote: boolean
  /** Create a new admin token at startup. */
  recoverToken: boolean
  /** URL of a libSQL server for the records. */
  databaseUrl: string | undefined
  /** URL of a bucket for documents and vectors. */
  storageUrl: string | undefined
  /** Copy the records or the documents there and exit: a URL, or `local` for the home. */
  copyToDatabase: string | undefined
  copyToStorage: string | undefined
  /** Check the database for damage, print the result and exit. */
  checkDatabase: boolean
}

/** Invalid command-line options. */
export class UsageError extends Error {}

export function parseOptions(given: string[], port = DEFAULT_PORT): DaemonOptions {
  const { values } = parseFlags(given)
  const isRemote = !isLoopback(values.host)
  if (values.host === '') throw new UsageError('--host needs an address, such as 127.0.0.1.')
  if (isRemote && !values['allow-remote']) {
    throw new UsageError(
      `Refusing to listen on ${values.host}: other machines could reach the daemon, and tokens and documents would be sent unencrypted.\n` +
        'To allow it, add --allow-remote and put a TLS proxy in front of the daemon.',
    )
  }
  return {
    host: values.host,
    port: values.port === undefined ? port : parsePort(values.port),
    verbose: values.verbose,
    foreground: values.foreground,
    isRemote,
    recoverToken: values['recover-token'],
    databaseUrl: parseUrl(values['database-url'], '--database-url', parseDatabaseUrl),
    storageUrl: parseUrl(values['storage-url'], '--storage-url', parseStorageUrl),
    copyToDatabase: parseTarget(values['copy-to-database'], '--to-database', parseDatabaseUrl),
    copyToStorage: parseTarget(values['copy-to-storage'], '--to-storage', parseStorageUrl),
    checkDatabase: values['check-database'],
  }
}

function parseFlags(given: string[]) {
  try {
    return parseArgs({
      args: given,
      options: {
        host: { type: 'string', default: '127.0.0.1' },
        port: { type: 'string' },
        'allow-remote': { type: 'boolean', default: false },
        verbose: { type: 'boolean', default: false },
        foreground: { type: 'boolean', default: false },
        'recover-token': { type: 'boolean', default: false },
        'database-url': { type: 'string' },
        'storage-url': { type: 'string' },
        'copy-to-database': { type: 'string' },
        'copy-to-storage': { type: 'string' },
        'check-database': { type: 'boolean', default: false },
      },
    })
  } catch (error) {
    throw new UsageError((error as Error).message, { cause: error })
  }
}

function parseUrl(text: string | undefined, name: string, parse: (text: string, name: string) => string): string | undefined {
  try {
    return text === undefined ? undefined : parse(text, name)
  } catch (error) {
    throw new UsageError((error as Error).message, { cause: error })
  }
}

const parseTarget: typeof parseUrl = (text, name, parse) => (text === 'local' ? text : parseUrl(text, name, parse))

function parsePort(text: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535)
    throw new UsageError(`--port must be a whole number from 0 to 65535, not "${text}".`)
  return Number(text)
}

/** Only addresses that are certain to be local: other names may resolve to anything. */
function isLoopback(host: string): boolean {
  return host === 'localhost' || (isIPv4(host) && host.startsWith('127.')) || (isIPv6(host) && /^(0*:)*0*1$/.test(host))
}

/** The URL the daemon listens on. */
export function formatUrl(host: string, port: number): string {
  return `http://${isIPv6(host) ? `[${host}]` : host}:${port}`
}

/** The URL for clients on this machine: 0.0.0.0 and :: are not addresses to connect to. */
export function formatLocalUrl(host: string, port: number): string {
  if (isIPv4(host) && host === '0.0.0.0') return formatUrl('127.0.0.1', port)
  return formatUrl(isIPv6(host) && /^[0:]+$/.test(host) ? '::1' : host, port)
}
