/** What the daemon is started with. */
import { isIPv4, isIPv6 } from 'node:net'
import { parseArgs } from 'node:util'
import { DEFAULT_PORT } from '../../src/config.ts'

export interface DaemonOptions {
  host: string
  port: number
  verbose: boolean
  /** Whether other machines can reach it. */
  isRemote: boolean
  /** Whether the home's owner asks for a new admin token. */
  recoverToken: boolean
}

/** It was started in a way that cannot work. */
export class UsageError extends Error {}

export function parseOptions(given: string[], port = DEFAULT_PORT): DaemonOptions {
  const { values } = parseFlags(given)
  const remote = !isLoopback(values.host)
  if (values.host === '') throw new UsageError('--host needs an address, such as 127.0.0.1.')
  if (remote && !values['allow-remote']) {
    throw new UsageError(
      `Cadre does not listen at ${values.host} by itself: whoever reaches that address could try tokens against it, and tokens and documents would cross the network unencrypted.\n` +
        'If that is what you want, add --allow-remote, and put a proxy with TLS in front of it.',
    )
  }
  return {
    host: values.host,
    port: values.port === undefined ? port : parsePort(values.port),
    verbose: values.verbose,
    isRemote: remote,
    recoverToken: values['recover-token'],
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
        'recover-token': { type: 'boolean', default: false },
      },
    })
  } catch (error) {
    throw new UsageError((error as Error).message, { cause: error })
  }
}

function parsePort(text: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535)
    throw new UsageError(`--port must be a whole number from 0 to 65535, not "${text}".`)
  return Number(text)
}

/** Only what is certain to stay on this machine; any other name might resolve to anything. */
function isLoopback(host: string): boolean {
  return host === 'localhost' || (isIPv4(host) && host.startsWith('127.')) || (isIPv6(host) && /^(0*:)*0*1$/.test(host))
}

/** Where it listens, as an address. */
export function formatUrl(host: string, port: number): string {
  return `http://${isIPv6(host) ? `[${host}]` : host}:${port}`
}

/** Where a client on this machine finds it: "any address" is no address to call. */
export function formatLocalUrl(host: string, port: number): string {
  if (isIPv4(host) && host === '0.0.0.0') return formatUrl('127.0.0.1', port)
  return formatUrl(isIPv6(host) && /^[0:]+$/.test(host) ? '::1' : host, port)
}
