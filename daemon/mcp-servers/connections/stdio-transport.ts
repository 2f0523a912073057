/** Runs an MCP server as a separate process and exchanges one JSON message per line with it, within limits. */
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { homedir } from 'node:os'
import type { Readable, Writable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client'
import { HAS_PROCESS_GROUPS, signalProcessGroup } from '../../process/process-group.ts'
import { cleanText } from './clean-text.ts'
import { createProcessMark, endDescendants } from './end-descendants.ts'
import { measureMemory } from './measure-memory.ts'
import { MessageLimit, TrafficLimit } from './message-limit.ts'

/** Bytes of requests that the program has not read. */
const MAX_UNREAD_BYTES = 8 * 1024 * 1024
const MAX_STDERR_LENGTH = 2_000
/** Error output that is part of a message. */
const MAX_SHOWN_LENGTH = 300
const MEMORY_CHECK_MS = 1_000
const CLOSE_DELAY_MS = 1_000
const KILL_DELAY_MS = 2_000
/** For the last output of a program that has exited. A process that it left behind could keep the pipes open without end. */
const DRAIN_MS = 500

/** Variables without which programs cannot be found or started. Everything else, such as tokens, must be named. */
const INHERITED_VARIABLES = new RegExp(
  '^(PATH|PATHEXT|HOME|USER|LOGNAME|SHELL|LANG|LC_\\w+|TZ|TMPDIR|TEMP|TMP|' +
    '(LOCAL)?APPDATA|USERPROFILE|HOME(DRIVE|PATH)|SYSTEM(ROOT|DRIVE)|COMSPEC|WINDIR)$',
  'i',
)

interface StdioOptions {
  command: string
  args: readonly string[]
  env: Readonly<Record<string, string>>
  memoryMb: number
}

function closePipes({ stdin, stdout, stderr }: ChildProcessByStdio<Writable, Readable, Readable>): void {
  for (const pipe of [stdin, stdout, stderr]) pipe.destroy()
}

const selectInheritedVariables = (environment: NodeJS.ProcessEnv = process.env) =>
  Object.fromEntries(Object.entries(environment).filter(([name]) => INHERITED_VARIABLES.test(name)))

export class StdioTransport implements Transport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: (message: JSONRPCMessage) => void
  readonly #options: StdioOptions
  readonly #traffic = new TrafficLimit()
  readonly #output = new MessageLimit(this.#traffic, 'line')
  readonly #mark = createProcessMark()
  #child: ChildProcessByStdio<Writable, Readable, Readable> | undefined
  #parts: Buffer[] = []
  #stderr = ''
  #problem: string | undefined
  #memoryTimer: NodeJS.Timeout | undefined

  constructor(options: StdioOptions) {
    this.#options = options
  }

  /** Why the program ended. */
  get problem(): string | undefined {
    return this.#problem
  }

  async start(): Promise<void> {
    const { command, args, env } = this.#options
    const child = spawn(command, args, {
      env: { ...selectInheritedVariables(), ...env, ...this.#mark },
      cwd: homedir(),
      stdio: ['pipe', 'pipe', 'pipe'],
      // A process group of its own, so that its child processes end with it.
      detached: HAS_PROCESS_GROUPS,
      windowsHide: true,
    })
    this.#child = child
    child.stdout.on('data', (part: Buffer) => this.#read(part))
    child.stderr.on('data', (part: Buffer) => this.#readErrors(part))
    // A program that ends does not read its input; its exit is reported.
    child.stdin.on('error', () => {})
    child.once('exit', () => {
      // Child processes that it left behind.
      signalProcessGroup(child, 'SIGKILL')
      void endDescendants(this.#mark)
      setTimeout(closePipes, DRAIN_MS, child)
    })
    child.once('close', (code, signal) => this.#handleExit(signal === null ? `exited with code ${code}` : `was ended by ${signal}`))
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve)
      child.once('error', (error: NodeJS.ErrnoException) => {
        const { code = error.message } = error
        this.#handleExit(`could not be started${code === 'ENOENT' ? `: the command "${command}" was not found` : ` (${code})`}`)
        reject(error)
      })
    })
    this.#memoryTimer = setInterval(() => void this.#checkMemory(), MEMORY_CHECK_MS).unref()
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.#child?.stdin
    if (!stdin?.writable) throw new Error(this.#problem ?? 'is not running')
    if (stdin.writableLength > MAX_UNREAD_BYTES) return void this.#fail('does not read its input')
    stdin.write(`${JSON.stringify(message)}\n`)
  }

  /** Closes its input first, so that it can end by itself. */
  async close(): Promise<void> {
    const child = this.#child
    if (!child) return
    const closed = new Promise<void>((resolve) => child.once('close', () => resolve()))
    child.stdin.end()
    const timers = [
      setTimeout(() => signalProcessGroup(child, 'SIGTERM'), CLOSE_DELAY_MS),
      setTimeout(() => signalProcessGroup(child, 'SIGKILL'), KILL_DELAY_MS),
      // A process that waits for a device does not exit.
      setTimeout(closePipes, KILL_DELAY_MS + DRAIN_MS, child),
    ]
    await Promise.race([closed, sleep(KILL_DELAY_MS + 2 * DRAIN_MS, undefined, { ref: false })])
    for (const timer of timers) clearTimeout(timer)
    await endDescendants(this.#mark)
  }

  #read(part: Buffer): void {
    const exceeded = this.#output.count(part)
    if (exceeded) return void this.#fail(exceeded)
    for (let rest = part; rest.length > 0 && this.#problem === undefined; ) {
      const end = rest.indexOf(10)
      this.#parts.push(end === -1 ? rest : rest.subarray(0, end))
      if (end === -1) return
      rest = rest.subarray(end + 1)
      this.#deliver()
    }
  }

  #deliver(): void {
    const line = Buffer.concat(this.#parts).toString('utf8')
    this.#parts = []
    if (line.trim() === '') return
    const exceeded = this.#traffic.count({ messages: 1 })
    if (exceeded) return void this.#fail(exceeded)
    try {
      const message = JSON.parse(line) as JSONRPCMessage
      const tooLong = this.#traffic.countElements(message)
      if (tooLong) return void this.#fail(tooLong)
      this.onmessage?.(message)
    } catch (error) {
      // Some servers write log lines to stdout.
      this.onerror?.(error as Error)
    }
  }

  #readErrors(part: Buffer): void {
    const exceeded = this.#traffic.count({ bytes: part.length })
    if (exceeded) return void this.#fail(exceeded)
    this.#stderr = (this.#stderr + part.subarray(-MAX_STDERR_LENGTH).toString('utf8')).slice(-MAX_STDERR_LENGTH)
  }

  async #checkMemory(): Promise<void> {
    const pid = this.#child?.pid
    if (pid === undefined) return
    const { memoryMb } = this.#options
    if ((await measureMemory(pid)) > memoryMb * 1024 * 1024) this.#fail(`used more than ${memoryMb} MB of memory`)
  }

  #fail(problem: string): void {
    this.#problem ??= problem
    if (this.#child) signalProcessGroup(this.#child, 'SIGKILL')
  }

  #handleExit(problem: string): void {
    if (this.#child === undefined) return
    const output = cleanText(this.#stderr).trim().split('\n').slice(-3).join(' ').slice(-MAX_SHOWN_LENGTH)
    this.#problem ??= output === '' ? problem : `${problem}: ${output}`
    clearInterval(this.#memoryTimer)
    this.#child = undefined
    this.onclose?.()
  }
}
