/** Terminals to drive the chat in: tmux with the real command where tmux is installed, else the chat in this process on an emulated screen. */
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough, Writable } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { connect } from '../../src/client/daemon.ts'
import { homePaths } from '../../src/config.ts'
import { runChat } from '../../src/tui/chat.tsx'
import { linkCommand } from './cli.ts'
import { TerminalEmulator } from './terminal-emulator.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const TIMEOUT_MS = 45_000
const POLL_INTERVAL_MS = 40

export interface LaunchOptions {
  home: string
  columns: number
  rows: number
  agent?: string
  arguments?: string[]
  environment?: Record<string, string>
}

export interface ChatTerminal {
  /** What stands on the screen, without what scrolled out of it. */
  screen(): string
  /** All that was printed, with the screen at its end. */
  all(): string
  cursor(): { x: number; y: number }
  /** Bytes as a keyboard sends them. */
  press(bytes: string): void
  resize(columns: number, rows: number): void
  close(): Promise<void>
}

export const hasTmux = process.env.CADRE_TEST_TMUX !== 'off' && spawnSync('tmux', ['-V']).status === 0

export function openChat(started: LaunchOptions): ChatTerminal {
  return hasTmux ? inTmux(started) : inProcess(started)
}

/** Waits until the screen is as it should be. */
export async function waitForScreen(
  terminal: ChatTerminal,
  holds: RegExp | ((screen: string) => boolean),
  what = String(holds),
): Promise<string> {
  const deadline = Date.now() + TIMEOUT_MS
  for (;;) {
    const screen = terminal.screen()
    if (typeof holds === 'function' ? holds(screen) : holds.test(screen)) return screen
    if (Date.now() > deadline) throw new Error(`the screen never came to ${what}:\n${terminal.all()}`)
    await pause(POLL_INTERVAL_MS)
  }
}

const listArguments = ({ agent, arguments: more = [] }: LaunchOptions) => ['chat', ...(agent === undefined ? [] : [agent]), ...more]

export interface TmuxTerminal extends ChatTerminal {
  /** All bytes that the command writes from now on go into that file as well. */
  record(file: string): void
}

export function inTmux(started: LaunchOptions): TmuxTerminal {
  const folder = mkdtempSync(join(tmpdir(), 'cadre-tmux-'))
  const tmux = (...given: string[]) => {
    const { status, stdout, stderr } = spawnSync('tmux', ['-S', join(folder, 's'), '-f', '/dev/null', ...given], { encoding: 'utf8' })
    if (status !== 0) throw new Error(`tmux ${given.join(' ')}: ${stderr}`)
    return stdout
  }
  const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`
  const variables = { ...environmentOf(started.home), TERM: 'screen-256color', ...started.environment }
  const assigned = Object.entries(variables).map(([name, value]) => quoted(`${name}=${value}`))
  const command = [
    'env',
    '-i',
    ...assigned,
    quoted(process.execPath),
    quoted(linkCommand(folder)),
    ...listArguments(started).map(quoted),
  ].join(' ')
  const size = ['-x', String(started.columns), '-y', String(started.rows)]
  // What the command ends with stays readable, and the session outlives it.
  tmux('new-session', '-d', '-s', 'chat', ...size, '-c', started.home, `${command}; echo "ended with $?"; exec sleep 600`)
  const pane = (...given: string[]) => tmux('capture-pane', '-p', '-t', 'chat', ...given)
  return {
    screen: () => pane(),
    all: () => pane('-S', '-'),
    cursor() {
      const [x, y] = tmux('display-message', '-p', '-t', 'chat', '#{cursor_x} #{cursor_y}').split(' ').map(Number)
      return { x: x ?? -1, y: y ?? -1 }
    },
    press: (bytes) =>
      void tmux('send-keys', '-t', 'chat', '-H', ...Array.from(Buffer.from(bytes), (byte) => byte.toString(16).padStart(2, '0'))),
    resize: (columns, rows) => void tmux('resize-window', '-t', 'chat', '-x', String(columns), '-y', String(rows)),
    record: (file) => void tmux('pipe-pane', '-t', 'chat', `cat > ${quoted(file)}`),
    async close() {
      tmux('kill-server')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function environmentOf(home: string): Record<string, string> {
  return {
    PATH: process.env.PATH ?? '',
    HOME: home,
    LANG: 'C.UTF-8',
    CADRE_HOME: home,
    CADRE_PORT: '0',
    CADRE_RATE_LIMIT: '0',
    CADRE_KEYCHAIN: 'off',
  }
}

/** The chat itself, without its command: no process, no pty. */
function inProcess({ home, columns, rows, agent, arguments: more = [] }: LaunchOptions): ChatTerminal {
  const emulator = new TerminalEmulator(columns, rows)
  const input = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => input }) as unknown as NodeJS.ReadStream
  const output = new Writable({
    write(chunk: Buffer, _, done) {
      emulator.write(chunk.toString())
      done()
    },
  }) as unknown as NodeJS.WriteStream
  Object.defineProperties(output, { isTTY: { value: true }, columns: { get: () => emulator.columns }, rows: { get: () => emulator.rows } })
  const flag = (name: string) => more[more.indexOf(name) + 1]
  const ended = runChat({
    connect: (start) =>
      connect({ paths: homePaths({ CADRE_HOME: home }), start: start && !more.includes('--no-start'), root: ROOT, notify: () => {} }),
    conversation: {
      agent,
      conversation: more.includes('--conversation') ? flag('--conversation') : undefined,
      continueLast: more.includes('--continue'),
      model: more.includes('--model') ? flag('--model') : undefined,
    },
    colors: false,
    cwd: home,
    input,
    output,
    onTerminalAcquired: () => {},
  }).then(
    () => emulator.write('\nended with 0'),
    (error: Error) => emulator.write(`\n${error.message}\nended with 1`),
  )
  return {
    screen: () => emulator.screen,
    all: () => [...emulator.history, emulator.screen].join('\n'),
    cursor: () => emulator.cursor,
    press: (bytes) => void (input as unknown as PassThrough).write(bytes),
    resize(wide, high) {
      emulator.resize(wide, high)
      output.emit('resize')
    },
    async close() {
      if (!emulator.screen.includes('ended with')) for (const byte of ['\u0003', '\u0003']) (input as unknown as PassThrough).write(byte)
      await ended
    },
  }
}

/** Runs a command of cadre in that home, to its end. */
export async function runCadre(
  home: string,
  given: readonly string[],
  { input = '', environment = {} }: { input?: string; environment?: Record<string, string> } = {},
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const env = { ...environmentOf(home), ...environment }
  const folder = mkdtempSync(join(tmpdir(), 'cadre-bin-'))
  const child = spawn(process.execPath, [linkCommand(folder), ...given], { env, cwd: home, stdio: ['pipe', 'pipe', 'pipe'] })
  const ran = { stdout: '', stderr: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    ran.stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    ran.stderr += text
  })
  child.stdin.end(input)
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  rmSync(folder, { recursive: true })
  return { code, ...ran }
}
