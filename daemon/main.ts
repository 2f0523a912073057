/** The daemon's process: one a home, it listens, says so, and stops without losing anything. */
import { rmSync } from 'node:fs'
import { setFlagsFromString } from 'node:v8'
import closeWithGrace from 'close-with-grace'
import {
  type DaemonRecord,
  DEFAULT_RATE_LIMIT,
  EXIT_HOME_IN_USE,
  environmentOverrides,
  homePaths,
  type Paths,
  readDaemonRecord,
  takeProviderKeys,
} from '../src/config.ts'
import { CadreError } from '../src/contract/errors.ts'
import { readKeychain, writeKeychain } from '../src/keychain.ts'
import { version } from '../src/version.ts'
import type { App } from './app.ts'
import { type Log, openLog } from './logging/log.ts'
import { prepareHome, writeFileAtomically } from './process/home.ts'
import { acquireLock } from './process/lock.ts'
import { type DaemonOptions, formatLocalUrl, formatUrl, parseOptions, UsageError } from './process/options.ts'
import { storeAdminToken } from './secrets/admin-token.ts'
import { Redactor } from './secrets/redactor.ts'
import { openVault } from './secrets/vault.ts'

const EXIT_CODES = { failed: 1, usage: 2, heldByAnother: EXIT_HOME_IN_USE } as const
/** A stop is promised within 10 s; the rest is for the exit itself. */
const SHUTDOWN_TIMEOUT_MS = 9_000

class AlreadyRunningError extends Error {}

interface DaemonState {
  app?: App
  stopping: boolean
}

async function run(redactor: Redactor): Promise<void> {
  process.umask(0o077)
  // Left alone, V8 lets four times as much garbage lie as there is in use; many streams at once leave a lot of it.
  setFlagsFromString('--heap-growing-percent=50')
  ignoreClosedOutput()
  const overrides = environmentOverrides()
  const wanted = parseOptions(process.argv.slice(2), overrides.port)
  const paths = homePaths()
  if (overrides.token !== undefined) redactor.add(overrides.token)
  // Programs started from here have no use for it.
  delete process.env.CADRE_TOKEN
  const keys = takeProviderKeys()
  for (const key of Object.values(keys)) redactor.add(key)

  prepareHome(paths)
  const lock = acquireLock(paths.lock)
  if (lock === undefined) throw new AlreadyRunningError(formatAlreadyRunning(paths))
  // Whoever wrote it is gone, or would hold the lock.
  rmSync(paths.daemon, { force: true })

  const log = openLog({
    path: paths.log,
    level: overrides.logLevel ?? 'info',
    redactor,
    ...(wanted.verbose ? { echo: (line: string) => process.stderr.write(line) } : {}),
  })
  const end = () => {
    removeDaemonRecord(paths)
    log.close()
    lock.release()
  }
  const running: DaemonState = { stopping: false }
  handleShutdown({ paths, log, redactor, cleanUp: end, running })

  try {
    const keychain = {
      read: (name: string) => readKeychain(paths.home, name),
      write: (name: string, value: string) => writeKeychain(paths.home, name, value),
    }
    const vault = await openVault({ paths, keychain, redactor })
    // Whoever is refused the lock need not load the rest.
    const { createApp } = await import('./app.ts')
    const app = await createApp({
      paths,
      logger: log.logger,
      vault,
      rateLimit: overrides.rateLimit ?? DEFAULT_RATE_LIMIT,
      version,
      modelDiscovery: { keys, servers: overrides.modelServers },
      adminToken: overrides.token,
      recoverToken: wanted.recoverToken,
      async keepToken(token) {
        redactor.add(token)
        await storeAdminToken(token, { paths, keychain, vault })
      },
    })
    running.app = app
    const url = await listen(app, wanted)
    writeDaemonRecord(paths, url)
    log.logger.info({ version, url, home: paths.home, secrets: vault.location }, 'ready')
    if (vault.location === 'locked') log.logger.warn('the vault is locked: models, tools and webhooks with secrets do not work')
    process.stdout.write(`Cadre is ready at ${url}\n`)
  } catch (error) {
    // Stopped before it was ready: whoever stops it ends the process.
    if (running.stopping) return
    log.logger.fatal({ err: error }, 'the start failed')
    end()
    throw error
  }
}

async function listen(app: App, { host, port, isRemote: remote }: DaemonOptions): Promise<string> {
  try {
    await app.server.listen({ host, port })
  } catch (error) {
    throw explainListenError(error as NodeJS.ErrnoException, host, port)
  }
  const address = app.server.server.address()
  const bound = typeof address === 'object' && address ? address.port : port
  app.listening(formatUrl(host, bound))
  if (remote) process.stderr.write(`Other machines can reach this daemon at ${formatUrl(host, bound)}, without encryption.\n`)
  return formatLocalUrl(host, bound)
}

function explainListenError(error: NodeJS.ErrnoException, host: string, port: number): CadreError {
  const another =
    'cadre daemon start --port 7412 starts it at another port, --port 0 at any free one; CADRE_PORT in the environment keeps the choice.'
  if (error.code === 'EADDRINUSE')
    return new CadreError('UNAVAILABLE', `Port ${port} at ${host} is in use by another program.`, {
      hint: `${another} On Linux and macOS, lsof -i :${port} shows who has it.`,
      cause: error,
    })
  if (error.code === 'EACCES')
    return new CadreError('UNAVAILABLE', `Port ${port} is not open to this user.`, { hint: another, cause: error })
  if (error.code === 'EADDRNOTAVAIL' || error.code === 'ENOTFOUND')
    return new CadreError('UNAVAILABLE', `${host} is not an address of this machine.`, {
      hint: 'Leave --host out to listen at 127.0.0.1.',
      cause: error,
    })
  return new CadreError('UNAVAILABLE', `Cannot listen at ${host}, port ${port}: ${error.message}`, { cause: error })
}

function writeDaemonRecord(paths: Paths, url: string): void {
  const record: DaemonRecord = { pid: process.pid, url, version, started_at: new Date(performance.timeOrigin).toISOString() }
  writeFileAtomically(paths.daemon, `${JSON.stringify(record)}\n`)
}

function removeDaemonRecord(paths: Paths): void {
  if (readDaemonRecord(paths)?.pid === process.pid) rmSync(paths.daemon, { force: true })
}

function formatAlreadyRunning(paths: Paths): string {
  const record = readDaemonRecord(paths)
  return `Another Cadre daemon already runs on this home${record ? ` (${record.url}, pid ${record.pid})` : ''}.`
}

interface ShutdownOptions {
  paths: Paths
  log: Log
  redactor: Redactor
  /** The last things done, whatever the reason: all of them at once, none that waits. */
  cleanUp(): void
  running: DaemonState
}

/** A signal stops it with grace, a second one at once; an error that nobody caught leaves no state to be trusted. */
function handleShutdown({ paths, log: { logger }, redactor, cleanUp: end, running }: ShutdownOptions): void {
  const onTimeout = () => {
    logger.warn(`not everything had ended after ${SHUTDOWN_TIMEOUT_MS / 1000} s`)
    end()
    process.exit(0)
  }
  closeWithGrace(
    { delay: SHUTDOWN_TIMEOUT_MS, logger: false, onTimeout, onSecondSignal: end, onSecondError: end },
    async ({ err, signal }) => {
      if (err) {
        logger.fatal({ err }, 'an error that nobody caught')
        process.stderr.write(
          `Cadre has stopped on an error of its own: ${redactor.redact(err.message ?? String(err))}\nThis is a bug; ${paths.log} holds its cause.\n`,
        )
        end()
        return
      }
      running.stopping = true
      logger.info({ signal }, 'stopping')
      running.app?.drain()
      await running.app?.close()
      logger.info('stopped')
      end()
    },
  )
}

/** The terminal or the pipe that started it may go away; what is still said to it is then said to nobody. */
function ignoreClosedOutput(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE' && error.code !== 'EIO') throw error
    })
  }
}

function reportError(error: unknown, redactor: Redactor): number {
  const hint = error instanceof CadreError && error.hint ? `\n${error.hint}` : ''
  process.stderr.write(redactor.redact(`${error instanceof Error ? error.message : String(error)}${hint}\n`))
  if (error instanceof AlreadyRunningError) return EXIT_CODES.heldByAnother
  return error instanceof UsageError ? EXIT_CODES.usage : EXIT_CODES.failed
}

const redactor = new Redactor()
run(redactor).catch((error: unknown) => process.exit(reportError(error, redactor)))
