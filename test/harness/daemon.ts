/** Runs the built daemon as a separate process, as users do. Tests and benchmarks share it. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type Deadline, startDeadline } from '../../src/deadline.ts'

const ENTRY = fileURLToPath(new URL('../../dist/daemon/main.js', import.meta.url))
const READY_TIMEOUT_MS = 600_000

export const TOKEN = 'cadre_token-of-the-daemon-under-test-0123456789'

export interface DaemonOptions {
  arguments?: readonly string[] | undefined
  environment?: Readonly<Record<string, string | undefined>> | undefined
  /** Becomes the admin token at the first start. */
  token?: string | undefined
  nodeOptions?: readonly string[] | undefined
  /** A program and its arguments that run the daemon, such as nsenter. */
  launcher?: readonly string[] | undefined
}

export interface DaemonResponse {
  status: number
  // biome-ignore lint/suspicious/noExplicitAny: tests inspect response bodies of every shape
  body: any
}

export interface DaemonExit {
  code: number | null
  signal: string | null
  stdout: string
  stderr: string
}

export interface DaemonProcess {
  child: ChildProcess
  url: string
  /** Milliseconds from spawning the process until it reported its address. */
  readyMs: number
  /** Resolves with the output and exit status when the process ends. */
  exited: Promise<DaemonExit>
  get(path: string, token?: string): Promise<DaemonResponse>
  post(path: string, body: unknown, token?: string): Promise<DaemonResponse>
  /** Sends a signal and resolves with the exit code. */
  stop(signal?: NodeJS.Signals): Promise<number | null>
  /** Ends the process as a power cut would. */
  kill(): Promise<void>
}

export function spawnDaemon(home: string, options: DaemonOptions = {}): ChildProcess {
  if (!existsSync(ENTRY)) throw new Error('There is no build of the daemon. Run: npm run build')
  const { arguments: args = ['--port', '0'], environment = {}, token, nodeOptions = [], launcher = [] } = options
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('CADRE_') && name !== 'NODE_OPTIONS')
  const [program, ...words] = [...launcher, process.execPath, ...nodeOptions, ENTRY, ...args] as [string, ...string[]]
  return spawn(program, words, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...Object.fromEntries(inherited),
      CADRE_HOME: home,
      CADRE_KEYCHAIN: 'off',
      CADRE_MODEL_SERVERS: 'none',
      CADRE_RATE_LIMIT: '0',
      CADRE_TIMEOUT_FACTOR: process.env.CADRE_TIMEOUT_FACTOR,
      ...(token === undefined ? {} : { CADRE_TOKEN: token }),
      ...environment,
    },
  })
}

/** Starts a daemon and resolves when it reports that it is ready. */
export async function startDaemon(home: string, options: DaemonOptions = {}): Promise<DaemonProcess> {
  const startedAt = performance.now()
  const child = spawnDaemon(home, options)
  const exited = waitForExit(child)
  const url = await waitForAddress(child, exited)
  const readyMs = performance.now() - startedAt
  const send = async (path: string, token = options.token ?? TOKEN, init: RequestInit = {}): Promise<DaemonResponse> => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const response = await fetch(url + path, { ...init, headers })
    return { status: response.status, body: await response.json() }
  }
  const stop = async (signal: NodeJS.Signals = 'SIGTERM') => {
    if (child.exitCode !== null || child.signalCode !== null) return child.exitCode
    const exit = once(child, 'exit')
    child.kill(signal)
    const [code] = (await exit) as [number | null]
    return code
  }
  return {
    child,
    url,
    readyMs,
    exited,
    get: (path, token) => send(path, token),
    post: (path, body, token) => send(path, token, { method: 'POST', body: JSON.stringify(body) }),
    stop,
    kill: async () => void (await stop('SIGKILL')),
  }
}

/** Runs a daemon that is expected to exit without a signal. */
export async function runDaemonToExit(home: string, options?: DaemonOptions): Promise<DaemonExit> {
  return waitForExit(spawnDaemon(home, options), READY_TIMEOUT_MS)
}

/** Collects the output of a process until it ends. Past the limit the process is killed, so that its test fails instead of hanging. */
export async function waitForExit(child: ChildProcess, limitMs?: number): Promise<DaemonExit> {
  const output = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8').on('data', (part: string) => {
      output[name] += part
    })
  }
  const deadline = limitMs === undefined ? undefined : startDeadline(limitMs, () => child.kill('SIGKILL'))
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null]
  deadline?.cancel()
  return { code, signal, ...output }
}

async function waitForAddress(child: ChildProcess, exited: Promise<DaemonExit>): Promise<string> {
  let stdout = ''
  let deadline: Deadline | undefined
  const address = new Promise<string>((resolve, reject) => {
    child.stdout?.on('data', (part: string) => {
      stdout += part
      const [, url] = /^Cadre is ready at (http:\S+)$/m.exec(stdout) ?? []
      if (url !== undefined) resolve(url)
    })
    deadline = startDeadline(READY_TIMEOUT_MS, () => reject(new Error(`The daemon did not become ready: ${stdout}`)))
  })
  const failure = exited.then(({ code, signal, stderr }) => {
    throw new Error(`The daemon exited (${code ?? signal}) before it was ready: ${stderr}`)
  })
  try {
    return await Promise.race([address, failure])
  } catch (error) {
    child.kill('SIGKILL')
    throw error
  } finally {
    deadline?.cancel()
    failure.catch(() => undefined) // a later exit is expected
  }
}
