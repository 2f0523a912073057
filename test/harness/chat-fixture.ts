/** A home with a real daemon and a scripted provider, and chats with it in a real terminal. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type CommandResult, linkCommand, type RunOptions, runCommand, runHosted } from './cli.ts'
import { type DaemonProcess, startDaemon, TOKEN } from './daemon.ts'
import { ScriptedProvider, type Step, streamText } from './scripted-provider.ts'
import { TmuxTerminal } from './tmux-terminal.ts'

export interface ChatOptions {
  agent?: string
  /** Further arguments of `cadre chat`. */
  arguments?: readonly string[]
  environment?: Record<string, string>
  columns?: number
  rows?: number
  isInTmux?: boolean
}

const createEnvironment = (home: string) => ({
  PATH: process.env.PATH ?? '',
  HOME: home,
  LANG: 'C.UTF-8',
  CADRE_HOME: home,
  CADRE_PORT: '0',
  CADRE_RATE_LIMIT: '0',
  CADRE_KEYCHAIN: 'off',
})

const installCommand = (home: string) => linkCommand(mkdtempSync(join(home, 'bin-')))

/** Runs `cadre chat` in tmux. The terminal stays open after the command, so that its last output can be read. */
export function openChatTerminal(home: string, options: ChatOptions = {}): TmuxTerminal {
  const { agent, arguments: more = [], environment, columns = 80, rows = 24, isInTmux = false } = options
  const chat = [process.execPath, installCommand(home), 'chat', ...(agent === undefined ? [] : [agent]), ...more]
  return new TmuxTerminal({
    command: ['sh', '-c', '"$@"; echo "exit $?"; exec sleep 600', 'sh', ...chat],
    environment: { ...createEnvironment(home), ...environment },
    cwd: home,
    columns,
    rows,
    isInTmux,
  })
}

export class ChatFixture {
  readonly home: string
  readonly provider: ScriptedProvider
  daemon: DaemonProcess
  readonly #terminals: TmuxTerminal[] = []

  private constructor(home: string, provider: ScriptedProvider, daemon: DaemonProcess) {
    this.home = home
    this.provider = provider
    this.daemon = daemon
  }

  static async open(): Promise<ChatFixture> {
    const home = mkdtempSync(join(tmpdir(), 'cadre-chat-'))
    const provider = await ScriptedProvider.start('openai', streamText('Nothing was scripted.'))
    return new ChatFixture(home, provider, await startDaemon(home, { token: TOKEN }))
  }

  // biome-ignore lint/suspicious/noExplicitAny: tests inspect response bodies of every shape
  async create(path: string, fields: object): Promise<any> {
    const { status, body } = await this.daemon.post(`/api${path}`, fields)
    if (status !== 201) throw new Error(`POST ${path} responded with ${status}: ${JSON.stringify(body)}`)
    return body.data
  }

  // biome-ignore lint/suspicious/noExplicitAny: tests inspect response bodies of every shape
  async get(path: string): Promise<any> {
    return (await this.daemon.get(`/api${path}`)).body.data
  }

  /** Creates an agent whose model is the scripted provider. */
  async createAgent(name: string, fields: object = {}): Promise<{ id: string }> {
    const model = await this.create('/models', { ...this.provider.model, name: `${name} model`, pricing: { input: 0.5, output: 1.5 } })
    return this.create('/agents', { name, model_id: model.id, ...fields })
  }

  /** Sets the next responses of the provider; the last one repeats. */
  script(...steps: [Step, ...Step[]]): void {
    this.provider.script = steps
  }

  openChat(options: ChatOptions = {}): TmuxTerminal {
    const terminal = openChatTerminal(this.home, { ...options, environment: { CADRE_TOKEN: TOKEN, ...options.environment } })
    this.#terminals.push(terminal)
    return terminal
  }

  /** Opens a shell with job control, and returns the command that starts a chat in it. */
  openShell(): { terminal: TmuxTerminal; cadre: string } {
    const environment = { ...createEnvironment(this.home), CADRE_TOKEN: TOKEN, PS1: '$ ' }
    const terminal = new TmuxTerminal({ command: ['bash', '--norc', '-i'], environment, cwd: this.home, columns: 80, rows: 24 })
    this.#terminals.push(terminal)
    return { terminal, cadre: `"${process.execPath}" "${installCommand(this.home)}"` }
  }

  /** Runs a command of cadre in this home to its end. */
  run(words: readonly string[], { input = '', environment }: RunOptions = {}): Promise<CommandResult> {
    const options = { input, environment: { ...createEnvironment(this.home), ...environment }, cwd: this.home }
    const run = environment?.NODE_V8_COVERAGE === undefined ? runHosted : runCommand
    return run(installCommand(this.home), words, options)
  }

  /** Kills the daemon as a crash does. */
  async kill(): Promise<void> {
    await this.daemon.kill()
  }

  async restart(): Promise<void> {
    this.daemon = await startDaemon(this.home)
  }

  async close(): Promise<void> {
    for (const terminal of this.#terminals) terminal.close()
    await this.provider.close()
    await this.daemon.stop()
    rmSync(this.home, { recursive: true, force: true, maxRetries: 3 })
  }
}
