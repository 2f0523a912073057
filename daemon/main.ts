/** Entry point of the daemon process: lock, log, listen, shut down. */
import { randomBytes } from 'node:crypto'
import { rmSync } from 'node:fs'
import { setFlagsFromString } from 'node:v8'
import closeWithGrace from 'close-with-grace'
import {
  DEFAULT_OWNER_RATE_LIMIT,
  DEFAULT_RATE_LIMIT,
  EXIT_HOME_IN_USE,
  environmentOverrides,
  homePaths,
  type Paths,
  readDaemonRecord,
  takeProviderKeys,
} from '../src/config.ts'
import { CadreError } from '../src/contract/errors.ts'
import { scaleTimeout } from '../src/deadline.ts'
import { readKeychain, writeKeychain } from '../src/keychain.ts'
import { version } from '../src/version.ts'
import type { App } from './app-options.ts'
import { type Log, openLog } from './logging/log.ts'
import { removeDaemonRecord, writeDaemonRecord } from './process/daemon-record.ts'
import { resolveDatabaseServer } from './process/database-server.ts'
import { prepareHome } from './process/home.ts'
import { acquireLock } from './process/lock.ts'
import { type DaemonOptions, formatLocalUrl, formatUrl, parseOptions, UsageError } from './process/parse-options.ts'
import { startStartupServer } from './process/startup-server.ts'
import { resolveStorage, resolveStorages } from './process/storage-address.ts'
import { readAdminToken, storeAdminToken } from './secrets/admin-token.ts'
import { Redactor } from './secrets/redactor.ts'
import { openVault } from './secrets/vault.ts'
import { readTraceSettings } from './telemetry/tracing/trace-settings.ts'
import type { Tracer } from './telemetry/tracing/tracer.ts'

const EXIT_CODES = { failed: 1, usage: 2, heldByAnother: EXIT_HOME_IN_USE } as const
/** Shutdown must take less than 10 s in total. */
const SHUTDOWN_TIMEOUT_MS = 9_000

class AlreadyRunningError extends Error {}

interface DaemonState {
  app?: App
  stopping: boolean
}

async function run(redactor: Redactor): Promise<void> {
  process.umask(0o077)
  // By default V8 lets the heap grow to four times its live size, which many concurrent streams would fill with garbage.
  setFlagsFromString('--heap-growing-percent=50')
  delayOptimization(true)
  ignoreClosedOutput()
  const overrides = environmentOverrides()
  const wanted = parseOptions(process.argv.slice(2), overrides.port)
  const paths = homePaths()
  if (wanted.checkDatabase)
    return (await import('./diagnose-stores.ts')).diagnoseStores(
      paths,
      await resolveDatabaseServer(paths, wanted.databaseUrl),
      wanted.storageUrl,
    )
  if (wanted.copyToDatabase !== undefined || wanted.copyToStorage !== undefined) return copyStores(paths, wanted)
  if (overrides.token !== undefined) redactor.add(overrides.token)
  if (overrides.databaseToken !== undefined) redactor.add(overrides.databaseToken)
  const databaseServer = await resolveDatabaseServer(paths, wanted.databaseUrl)
  const storage = resolveStorage(paths, wanted.storageUrl)
  for (const secret of [storage?.secretAccessKey, storage?.vectors?.apiKey]) if (secret !== undefined) redactor.add(secret)
  // Child processes must not inherit them.
  delete process.env.CADRE_TOKEN
  delete process.env.CADRE_DATABASE_TOKEN
  delete process.env.CADRE_VAULT_KEY
  const keys = takeProviderKeys()
  for (const key of Object.values(keys)) redactor.add(key)

  prepareHome(paths)
  const lock = acquireLock(paths.lock)
  if (lock === undefined) throw new AlreadyRunningError(formatAlreadyRunning(paths))
  // The process that wrote it is gone; otherwise it would hold the lock.
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
    const { foreground, host, port } = wanted
    // A daemon that a command starts in the background has no probes.
    const startup = foreground && port !== 0 ? await startStartupServer(host, port).catch(rejectListening(host, port)) : undefined
    const keychain = {
      read: (name: string) => readKeychain(paths.home, name),
      write: (name: string, value: string) => writeKeychain(paths.home, name, value),
    }
    const vault = await openVault({ paths, keychain, redactor, sharedKey: overrides.vaultKey })
    // Loaded only after the lock is acquired.
    const { createApp } = await import('./app.ts')
    if (databaseServer?.token !== undefined) redactor.add(databaseServer.token)
    const tracer = await openTracer(log, redactor)
    const secret = randomBytes(32).toString('hex')
    redactor.add(secret)
    const app = await createApp({
      paths,
      databaseServer,
      storage,
      logger: log.logger,
      vault,
      rateLimit: overrides.rateLimit ?? DEFAULT_RATE_LIMIT,
      ownerRateLimit: overrides.rateLimit ?? DEFAULT_OWNER_RATE_LIMIT,
      version,
      modelDiscovery: { keys, servers: overrides.modelServers },
      adminToken: overrides.token,
      secret,
      recoverToken: wanted.recoverToken,
      tracer,
      async keepToken(token) {
        redactor.add(token)
        await storeAdminToken(token, { paths, keychain, vault })
      },
      readToken: () => readAdminToken({ paths, keychain, vault }),
    })
    running.app = app
    await startup?.close()
    const url = await listen(app, wanted)
    writeDaemonRecord(paths, url, secret, wanted)
    const database = databaseServer?.url ?? paths.database
    log.logger.info({ version, url, home: paths.home, database, storage: storage?.url, secrets: vault.location }, 'ready')
    if (vault.location === 'locked') log.logger.warn('the vault is locked: models, tools and webhooks that use secrets do not work')
    delayOptimization(false)
    process.stdout.write(`Cadre is ready at ${url}\n`)
  } catch (error) {
    // Stopped before it was ready: the shutdown handler ends the process.
    if (running.stopping) return
    log.logger.fatal({ err: error }, 'startup failed')
    end()
    throw error
  }
}

/**
 * Code that only runs at the start is not worth optimizing: that would take an eighth of the start's CPU time. The default of
 * Node 20 is 66 KB; later versions have no such flag.
 */
function delayOptimization(isDelayed: boolean): void {
  if (process.versions.node.startsWith('20.')) setFlagsFromString(`--interrupt-budget=${(isDelayed ? 1024 : 66) * 1024}`)
}

/** Invalid settings disable traces and are logged: variables that are meant for other programs must not stop the daemon. */
async function openTracer({ logger }: Log, redactor: Redactor): Promise<Tracer | undefined> {
  try {
    const settings = readTraceSettings(process.env, version)
    if (!settings) return undefined
    for (const value of Object.values(settings.headers)) redactor.add(value)
    const { Tracer } = await import('./telemetry/tracing/tracer.ts')
    logger.info({ url: settings.url }, 'traces are enabled')
    return new Tracer(settings, version, logger)
  } catch (error) {
    logger.warn({ err: error }, 'traces are disabled: a variable of OpenTelemetry is not valid')
    return undefined
  } finally {
    // Child processes must not inherit them.
    delete process.env.OTEL_EXPORTER_OTLP_HEADERS
    delete process.env.OTEL_EXPORTER_OTLP_TRACES_HEADERS
  }
}

async function listen(app: App, { host, port, isRemote: remote }: DaemonOptions): Promise<string> {
  await app.server.listen({ host, port }).catch(rejectListening(host, port))
  const address = app.server.server.address()
  const bound = typeof address === 'object' && address ? address.port : port
  app.listening(formatUrl(host, bound))
  if (remote) process.stderr.write(`Warning: other machines can reach this daemon at ${formatUrl(host, bound)}, without encryption.\n`)
  return formatLocalUrl(host, bound)
}

/** For `cadre migrate`: prints the progress as lines of JSON, then the result. The daemon of the home must not run. */
async function copyStores(paths: Paths, { databaseUrl, storageUrl, copyToDatabase, copyToStorage }: DaemonOptions): Promise<void> {
  const { copyHome } = await import('./store/copy/copy-home.ts')
  const database = await resolveDatabaseServer(paths, databaseUrl)
  const isUrl = (target: string | undefined) => target !== undefined && target !== 'local'
  const { source: storage, target: toStorage } = resolveStorages(paths, storageUrl, isUrl(copyToStorage) ? copyToStorage : undefined)
  const toDatabase = isUrl(copyToDatabase) ? await resolveDatabaseServer(paths, copyToDatabase) : undefined
  const target = { ...(copyToDatabase ? { database: toDatabase } : {}), ...(copyToStorage ? { storage: toStorage } : {}) }
  prepareHome(paths)
  const lock = acquireLock(paths.lock)
  if (lock === undefined) throw new AlreadyRunningError(formatAlreadyRunning(paths))
  const print = (line: object) => process.stdout.write(`${JSON.stringify(line)}\n`)
  try {
    print({ copied: await copyHome({ paths, source: { database, storage }, target, report: (progress) => print({ progress }) }) })
  } catch (error) {
    if (!(error instanceof CadreError)) throw error
    print({ error: error.message, hint: error.hint, code: error.code })
  } finally {
    lock.release()
  }
}

const rejectListening = (host: string, port: number) => (error: NodeJS.ErrnoException) => {
  throw explainListenError(error, host, port)
}

function explainListenError(error: NodeJS.ErrnoException, host: string, port: number): CadreError {
  const another = 'Choose another port with cadre daemon start --port 7412, or any free one with --port 0. Set CADRE_PORT to keep it.'
  if (error.code === 'EADDRINUSE')
    return new CadreError('UNAVAILABLE', `Port ${port} on ${host} is in use by another program.`, {
      hint: `${another} On Linux and macOS, lsof -i :${port} shows the program.`,
      cause: error,
    })
  if (error.code === 'EACCES')
    return new CadreError('UNAVAILABLE', `This user may not listen on port ${port}.`, { hint: another, cause: error })
  if (error.code === 'EADDRNOTAVAIL' || error.code === 'ENOTFOUND')
    return new CadreError('UNAVAILABLE', `${host} is not an address of this machine.`, {
      hint: 'Omit --host to listen on 127.0.0.1.',
      cause: error,
    })
  return new CadreError('UNAVAILABLE', `Cannot listen on ${host}, port ${port}: ${error.message}`, { cause: error })
}

function formatAlreadyRunning(paths: Paths): string {
  const record = readDaemonRecord(paths)
  return `Another Cadre daemon is already running for this home${record ? ` (${record.url}, pid ${record.pid})` : ''}.`
}

interface ShutdownOptions {
  paths: Paths
  log: Log
  redactor: Redactor
  /** Runs last, whatever the reason for stopping. Synchronous. */
  cleanUp(): void
  running: DaemonState
}

/** A signal stops the daemon gracefully, a second one immediately. An uncaught error stops it without cleanup. */
function handleShutdown({ paths, log: { logger }, redactor, cleanUp: end, running }: ShutdownOptions): void {
  const onTimeout = () => {
    logger.warn(`shutdown did not finish within ${SHUTDOWN_TIMEOUT_MS / 1000} s`)
    end()
    process.exit(0)
  }
  closeWithGrace(
    { delay: scaleTimeout(SHUTDOWN_TIMEOUT_MS), logger: false, onTimeout, onSecondSignal: end, onSecondError: end },
    async ({ err, signal }) => {
      if (err) {
        logger.fatal({ err }, 'uncaught error')
        process.stderr.write(
          `Cadre stopped because of an internal error: ${redactor.redact(err.message ?? String(err))}\n` +
            `This is a bug. See ${paths.log} for details.\n`,
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

/** Keeps running when the terminal or pipe that started it is closed. */
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
