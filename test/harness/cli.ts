/** Runs the real CLI as a child process with its own home, and stops its daemon at the end. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { stopDaemon } from '../../src/client/daemon.ts'
import { sendOnce } from '../../src/client/request.ts'
import { homePaths } from '../../src/config.ts'
import type { Json } from './test-server.ts'

const RUN = fileURLToPath(new URL('../../bin/run.js', import.meta.url))

export interface CommandResult {
  code: number | null
  stdout: string
  stderr: string
}

export interface RunOptions {
  input?: string
  environment?: Record<string, string | undefined>
  cwd?: string
}

export interface Terminal {
  home: string
  /** Environment of the commands. */
  environment: Record<string, string | undefined>
  /** Link named cadre to the build, as in an installation. */
  command: string
  run: (words: readonly string[], options?: RunOptions) => Promise<CommandResult>
  /** Starts a command without waiting for it. */
  start: (words: readonly string[]) => ChildProcessWithoutNullStreams
  /** Runs a command that must succeed, and parses its JSON. */
  json: <T = Record<string, unknown>>(words: readonly string[], options?: RunOptions) => Promise<T>
  url: () => string
  /** Sends a request to the running daemon as admin. Fixtures and checks need it: a command takes 0.3 s of CPU time. */
  request: (method: string, path: string, body?: object) => Promise<{ status: number; data: Json }>
  close: () => Promise<void>
}

/** Links the build as cadre, so that its messages say cadre. */
export function linkCommand(folder: string): string {
  const command = join(folder, 'cadre')
  mkdirSync(folder, { recursive: true })
  symlinkSync(RUN, command)
  return command
}

/** Runs a command to its end. */
export function runCommand(command: string, words: readonly string[], { input, environment, cwd }: RunOptions): Promise<CommandResult> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [command, ...words], {
      cwd,
      env: environment,
      stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    })
    const result: CommandResult = { code: null, stdout: '', stderr: '' }
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      result.stdout += text
    })
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      result.stderr += text
    })
    child.once('error', reject).once('close', (code) => resolve({ ...result, code }))
    if (input !== undefined) child.stdin?.end(input)
  })
}

/** Each terminal has its own home; only PATH is inherited from the environment. */
export function openTerminal(environment: Record<string, string> = {}): Terminal {
  const home = mkdtempSync(join(tmpdir(), 'cadre-cli-'))
  const command = linkCommand(join(home, 'bin'))
  const own = {
    PATH: process.env.PATH,
    HOME: home,
    CADRE_HOME: join(home, 'state'),
    CADRE_PORT: '0',
    CADRE_RATE_LIMIT: '0',
    CADRE_KEYCHAIN: 'off',
    CADRE_MODEL_SERVERS: 'none',
    ...environment,
  }

  const paths = homePaths(own)
  const url = () => (JSON.parse(readFileSync(paths.daemon, 'utf8')) as { url: string }).url

  const run = (words: readonly string[], options: RunOptions = {}) =>
    runCommand(command, words, { cwd: home, ...options, environment: { ...own, ...options.environment } })

  return {
    home: own.CADRE_HOME,
    environment: own,
    command,
    run,
    start: (words) => spawn(process.execPath, [command, ...words], { cwd: home, env: own, stdio: 'pipe' }),
    async json<T>(words: readonly string[], options?: RunOptions): Promise<T> {
      const { code, stdout, stderr } = await run([...words, '--json'], options)
      if (code !== 0) throw new Error(`cadre ${words.join(' ')} exited ${code}: ${stderr}`)
      return JSON.parse(stdout) as T
    },
    url,
    async request(method, path, body) {
      const token = readFileSync(paths.token, 'utf8').trim()
      const content = body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
      const response = await sendOnce({ url: url(), token }, { method, path: `/api${path}`, ...content })
      return { status: response.status, data: (JSON.parse(await response.text()) as Json).data }
    },
    async close() {
      try {
        await stopDaemon(paths)
      } finally {
        rmSync(home, { recursive: true, force: true })
      }
    },
  }
}
