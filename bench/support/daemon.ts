/** Starts the built daemon for a benchmark, in a home that is removed afterwards. */
import type { ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { HEAP_SIZE_OPTION } from '../../src/client/start-daemon.ts'
import { DAEMON_ENVIRONMENT } from '../../src/config.ts'
import { type DaemonProcess, startDaemon as startDaemonProcess } from '../../test/harness/daemon.ts'

export const ROOT = fileURLToPath(new URL('../..', import.meta.url))
export const TOKEN = 'cadre_bench_token_that_opens_nothing_else'
const READY_TIMEOUT_MS = 600_000

/** Environment for a child process without the settings of the person who runs the benchmark. */
export function createEnvironment(home: string, overrides: Record<string, string> = {}): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('CADRE_') && name !== 'NODE_OPTIONS')
  return {
    ...Object.fromEntries(inherited),
    CADRE_HOME: home,
    CADRE_TOKEN: TOKEN,
    CADRE_KEYCHAIN: 'off',
    CADRE_RATE_LIMIT: '0',
    ...overrides,
  }
}

export async function withHome<T>(work: (home: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'cadre-bench-'))
  try {
    return await work(join(folder, 'home'))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

export function startDaemon(home: string, overrides: Record<string, string> = {}): Promise<DaemonProcess> {
  return startDaemonProcess(home, { token: TOKEN, environment: { ...DAEMON_ENVIRONMENT, ...overrides }, nodeOptions: [HEAP_SIZE_OPTION] })
}

export async function withDaemon<T>(home: string, work: (daemon: DaemonProcess) => Promise<T>): Promise<T> {
  const daemon = await startDaemon(home)
  try {
    return await work(daemon)
  } finally {
    await daemon.stop()
  }
}

export async function request<T>(daemon: { url: string }, method: string, path: string, body?: object): Promise<T> {
  const headers = { authorization: `Bearer ${TOKEN}`, ...(body ? { 'content-type': 'application/json' } : {}) }
  const response = await fetch(`${daemon.url}${path}`, { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) })
  const text = await response.text()
  if (!response.ok) throw new Error(`${method} ${path} returned ${response.status}: ${text}`)
  return JSON.parse(text) as T
}

/** Reads the address from the line that a server prints when it is ready. */
export async function waitForAddress(child: ChildProcess): Promise<string> {
  let stdout = ''
  const address = new Promise<string>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`not ready within ${READY_TIMEOUT_MS / 1000} s: ${stdout}`)), READY_TIMEOUT_MS)
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      stdout += text
      const [, url] = /ready at (\S+)/.exec(stdout) ?? []
      if (url === undefined) return
      clearTimeout(timer)
      resolve(url)
    })
    child.once('exit', (code) => {
      clearTimeout(timer)
      reject(new Error(`exited with ${code} before it was ready: ${stdout}`))
    })
  })
  try {
    return await address
  } catch (error) {
    child.kill('SIGKILL')
    throw error
  }
}
