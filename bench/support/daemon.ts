/** The built daemon as a user runs it, in its own process and in a home that is gone afterwards. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { HEAP_ROOM } from '../../src/client/daemon.ts'

export const ROOT = fileURLToPath(new URL('../..', import.meta.url))
export const TOKEN = 'cadre_bench_token_that_opens_nothing_else'
const ENTRY = join(ROOT, 'dist', 'daemon', 'main.js')
const READY = /ready at (\S+)/
const PATIENCE_MS = 30_000

export interface RunningDaemon {
  url: string
  pid: number
  /** From the spawn to the line that says it is ready. */
  readyAfterMs: number
  stop(signal?: NodeJS.Signals): Promise<void>
}

/** What a child inherits: all but the settings of the person who runs the benchmark. */
export function environment(home: string, more: Record<string, string> = {}): NodeJS.ProcessEnv {
  const plain = Object.entries(process.env).filter(([name]) => !name.startsWith('CADRE_') && name !== 'NODE_OPTIONS')
  return { ...Object.fromEntries(plain), CADRE_HOME: home, CADRE_TOKEN: TOKEN, CADRE_KEYCHAIN: 'off', CADRE_RATE_LIMIT: '0', ...more }
}

export async function withHome<T>(work: (home: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'cadre-bench-'))
  try {
    return await work(join(folder, 'home'))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

export async function startDaemon(home: string, more: Record<string, string> = {}): Promise<RunningDaemon> {
  if (!existsSync(ENTRY)) throw new Error('There is no build to measure. Make one first: npm run build')
  const began = performance.now()
  const child = spawn(process.execPath, [HEAP_ROOM, ENTRY, '--port', '0'], {
    env: environment(home, more),
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const url = await readiness(child)
  return {
    url,
    pid: child.pid as number,
    readyAfterMs: performance.now() - began,
    async stop(signal = 'SIGTERM') {
      child.kill(signal)
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
    },
  }
}

export async function withDaemon<T>(home: string, work: (daemon: RunningDaemon) => Promise<T>): Promise<T> {
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
  if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`)
  return JSON.parse(text) as T
}

/** The address in the line a child prints when it is ready. */
export async function readiness(child: ChildProcess): Promise<string> {
  let said = ''
  const ready = new Promise<string>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`not ready within ${PATIENCE_MS / 1000} s; it said: ${said}`)), PATIENCE_MS)
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      said += text
      const [, url] = READY.exec(said) ?? []
      if (url === undefined) return
      clearTimeout(timer)
      resolve(url)
    })
    child.once('exit', (code) => {
      clearTimeout(timer)
      reject(new Error(`it exited with ${code} before it was ready; it said: ${said}`))
    })
  })
  try {
    return await ready
  } catch (error) {
    child.kill('SIGKILL')
    throw error
  }
}
