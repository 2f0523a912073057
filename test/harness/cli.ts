/** Runs the real CLI as a child process with its own home, and stops its daemon at the end. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { sendOnce } from '../../src/client/request.ts'
import { stopDaemon } from '../../src/client/stop-daemon.ts'
import { homePaths } from '../../src/config.ts'
import type { Json } from './test-server.ts'

export const RUN = fileURLToPath(new URL('../../bin/run.js', import.meta.url))
const HOST = fileURLToPath(new URL('command-host/main.js', import.meta.url))
/** Begins the line after the output of a command in a host. */
const END = '\u0000end of the command\u0000'
/** Commands that are no part of the bundle the host loads, or that replace or outlive its process. */
export const OWN_PROCESS = ['--version', '-v', '__complete', 'daemon run', 'daemon logs', 'mcp', 'uninstall']

export interface CommandResult {
  code: number | null
  stdout: string
  stderr: string
}

/** What a command printed in a host. */
interface HostedResult extends CommandResult {
  /** Both streams in their order. */
  written: string
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

/** Processes that run several commands each, all started with the same name. They end with this process. */
export class CommandHosts {
  readonly #idle: CommandHost[] = []

  /** Commands that run at the same time have a host each. */
  async run(script: string, words: readonly string[], options: RunOptions): Promise<HostedResult> {
    const host = this.#idle.pop() ?? new CommandHost()
    const result = await host.run(script, words, options)
    if (host.isRunning) this.#idle.push(host)
    return result
  }
}

/** All test files of a process share them. */
export const commandHosts = new CommandHosts()

/** A process that runs commands one after another. */
class CommandHost {
  readonly #child = spawn(process.execPath, [HOST], { stdio: ['ignore', 'pipe', 'pipe', 'ipc'] })
  #output = { stdout: '', stderr: '' }
  #resolve: ((result: HostedResult) => void) | undefined

  constructor() {
    for (const name of ['stdout', 'stderr'] as const) {
      this.#child[name]?.setEncoding('utf8').on('data', (text: string) => {
        this.#output[name] += text
        if (text.endsWith('\n')) this.#checkEnd()
      })
    }
    this.#child.once('close', (code) => this.#resolve?.({ code, ...this.#output, written: this.#output.stderr + this.#output.stdout }))
    this.#setReferenced(false)
  }

  get isRunning(): boolean {
    return this.#child.connected
  }

  run(script: string, words: readonly string[], { input, environment, cwd }: RunOptions): Promise<HostedResult> {
    this.#setReferenced(true)
    return new Promise((resolve) => {
      this.#output = { stdout: '', stderr: '' }
      this.#resolve = (result) => {
        this.#setReferenced(false)
        resolve(result)
      }
      this.#child.send({ script, words, input, environment, cwd, end: END })
    })
  }

  /** An idle host does not keep this process running. */
  #setReferenced(isReferenced: boolean): void {
    const { stdout, stderr, channel } = this.#child
    for (const each of [this.#child, channel, stdout as Socket, stderr as Socket]) {
      if (isReferenced) each?.ref()
      else each?.unref()
    }
  }

  /** The command has ended when both streams end with the line of the host, which contains the result. */
  #checkEnd(): void {
    const { stdout, stderr } = this.#output
    const [at, errorsAt] = [stdout.lastIndexOf(END), stderr.lastIndexOf(END)]
    if (at < 0 || errorsAt < 0 || !stdout.endsWith('\n')) return
    const { code, written } = JSON.parse(stdout.slice(at + END.length)) as { code: number; written: string }
    this.#resolve?.({ code, stdout: stdout.slice(0, at), stderr: stderr.slice(0, errorsAt), written })
  }
}

/** Runs a command in a process that runs others too, unless it needs its own. */
export async function runHosted(command: string, words: readonly string[], options: RunOptions): Promise<CommandResult> {
  // Commands with a question look at the file descriptor of their input.
  const needsInput = options.input !== undefined && ['ask', 'rag', 'retrieval'].includes(words[0] ?? '')
  const isOwn = needsInput || OWN_PROCESS.some((start) => `${words.join(' ')} `.startsWith(`${start} `))
  if (isOwn) return runCommand(command, words, options)
  const { code, stdout, stderr } = await commandHosts.run(command, words, options)
  return { code, stdout, stderr }
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
    CADRE_TIMEOUT_FACTOR: process.env.CADRE_TIMEOUT_FACTOR,
    CADRE_KEYCHAIN: 'off',
    CADRE_MODEL_SERVERS: 'none',
    ...environment,
  }

  const paths = homePaths(own)
  const url = () => (JSON.parse(readFileSync(paths.daemon, 'utf8')) as { url: string }).url

  const run = (words: readonly string[], options: RunOptions = {}): Promise<CommandResult> =>
    runHosted(command, words, { cwd: home, ...options, environment: { ...own, ...options.environment } })

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
