/** A home with a real daemon, an agent, and a scripted provider behind its model: what a chat needs to be driven. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ChatTerminal, type LaunchOptions, openChat } from './chat-terminal.ts'
import { type DaemonProcess, startDaemon, TOKEN } from './daemon.ts'
import { ScriptedProvider, type Step, streamText } from './scripted-provider.ts'

export class ChatFixture {
  readonly home: string
  readonly provider: ScriptedProvider
  daemon: DaemonProcess
  readonly #terminals: ChatTerminal[] = []

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

  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers freely
  async create(path: string, fields: object): Promise<any> {
    const { status, body } = await this.daemon.post(`/api${path}`, fields)
    if (status !== 201) throw new Error(`POST ${path} answered ${status}: ${JSON.stringify(body)}`)
    return body.data
  }

  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers freely
  async get(path: string): Promise<any> {
    return (await this.daemon.get(`/api${path}`)).body.data
  }

  /** An agent that the provider answers for. */
  async createAgent(name: string, fields: object = {}): Promise<{ id: string }> {
    const model = await this.create('/models', { ...this.provider.model, name: `${name} model`, pricing: { input: 0.5, output: 1.5 } })
    return this.create('/agents', { name, model_id: model.id, ...fields })
  }

  /** The provider does this from now on, the last of it for ever. */
  script(...steps: [Step, ...Step[]]): void {
    this.provider.script = steps
  }

  openChat(started: Partial<LaunchOptions> = {}): ChatTerminal {
    const terminal = openChat({
      home: this.home,
      columns: 80,
      rows: 24,
      ...started,
      environment: { CADRE_TOKEN: TOKEN, ...started.environment },
    })
    this.#terminals.push(terminal)
    return terminal
  }

  /** As a crash does it. */
  async kill(): Promise<void> {
    await this.daemon.kill()
  }

  async restart(): Promise<void> {
    this.daemon = await startDaemon(this.home)
  }

  async close(): Promise<void> {
    for (const terminal of this.#terminals) await terminal.close()
    await this.provider.close()
    await this.daemon.stop()
    rmSync(this.home, { recursive: true, force: true, maxRetries: 3 })
  }
}
