/** Drives the daemon as a process of its own: the bundle where one was built from this source, else the source itself. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const place = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url))

/** A bundle that is older than what it was built from would test yesterday's daemon. */
function bundleIsFresh(bundle: string): boolean {
  if (!existsSync(bundle)) return false
  const built = statSync(bundle).mtimeMs
  return ['daemon', 'src'].every((folder) =>
    readdirSync(place(folder), { recursive: true, encoding: 'utf8' }).every(
      (file) => !file.endsWith('.ts') || statSync(join(place(folder), file)).mtimeMs < built,
    ),
  )
}

const bundle = place('dist/daemon/main.js')
const command = bundleIsFresh(bundle) ? [bundle] : ['--import', import.meta.resolve('tsx'), place('daemon/main.ts')]

export interface Answer {
  status: number
  // biome-ignore lint/suspicious/noExplicitAny: answers are looked into freely by tests
  body: any
}

export interface Daemon {
  child: ChildProcess
  url: string
  /** What it said and how it ended, once it has. */
  ended: Promise<Ended>
  get(path: string, token: string): Promise<Answer>
  post(path: string, token: string, body: unknown): Promise<Answer>
}

export interface Ended {
  code: number | null
  signal: string | null
  stdout: string
  stderr: string
}

interface Options {
  arguments?: string[]
  environment?: Record<string, string | undefined>
}

export function spawnDaemon(home: string, { arguments: more = ['--port', '0'], environment = {} }: Options = {}): ChildProcess {
  const { CADRE_TOKEN: _token, CADRE_PORT: _port, CADRE_URL: _url, ...inherited } = process.env
  return spawn(process.execPath, [...command, ...more], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...inherited, CADRE_KEYCHAIN: 'off', CADRE_MODEL_SERVERS: 'none', CADRE_RATE_LIMIT: '0', CADRE_HOME: home, ...environment },
  })
}

/** Resolves when it says that it is ready; what it says instead is the error. */
export async function startDaemon(home: string, options: Options = {}): Promise<Daemon> {
  const child = spawnDaemon(home, options)
  const ended = end(child)
  const line = await Promise.race([
    once(createInterface({ input: child.stdout as NodeJS.ReadableStream }), 'line').then(([text]) => text as string),
    ended,
  ])
  const url = typeof line === 'string' ? /^Cadre is ready at (http:\S+)$/.exec(line)?.[1] : undefined
  if (url === undefined) throw new Error(`The daemon did not get ready: ${JSON.stringify(line)}`)
  const ask = async (path: string, token: string, more: RequestInit = {}): Promise<Answer> => {
    const response = await fetch(url + path, { ...more, headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' } })
    return { status: response.status, body: await response.json() }
  }
  return {
    child,
    url,
    ended,
    get: (path, token) => ask(path, token),
    post: (path, token, body) => ask(path, token, { method: 'POST', body: JSON.stringify(body) }),
  }
}

/** What it said and how it ended; one that should end by itself and does not is killed, and so fails its test instead of hanging it. */
export async function end(child: ChildProcess, limitMs?: number): Promise<Ended> {
  const said = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8').on('data', (part: string) => {
      said[name] += part
    })
  }
  const timer = limitMs === undefined ? undefined : setTimeout(() => child.kill('SIGKILL'), limitMs)
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null]
  clearTimeout(timer)
  return { code, signal, ...said }
}

/** A daemon that is expected not to start. */
export async function refusedDaemon(home: string, options?: Options): Promise<Ended> {
  return await end(spawnDaemon(home, options), 60_000)
}

export async function stopDaemon({ child }: Daemon, signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode
  const exited = once(child, 'exit')
  child.kill(signal)
  const [code] = (await exited) as [number | null]
  return code
}
