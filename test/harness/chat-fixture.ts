/** A home with a real daemon, an agent, and a scripted provider behind its model: what a chat needs to be driven. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ChatTerminal, openChat, type Started } from './chat-terminal.ts'
import { type Daemon, startDaemon, stopDaemon } from './daemon-process.ts'
import { ScriptedProvider, type Step, says } from './provider.ts'

const TOKEN = 'cadre_token-of-the-chat-under-test-0123456789abc'

export class Stage {
  readonly home: string
  readonly provider: ScriptedProvider
  daemon: Daemon
  readonly #terminals: ChatTerminal[] = []

  private constructor(home: string, provider: ScriptedProvider, daemon: Daemon) {
    this.home = home
    this.provider = provider
    this.daemon = daemon
  }

  static async open(): Promise<Stage> {
    const home = mkdtempSync(join(tmpdir(), 'cadre-chat-'))
    const provider = await ScriptedProvider.start('openai', says('Nothing was scripted.'))
    return new Stage(home, provider, await startDaemon(home, { environment: { CADRE_TOKEN: TOKEN } }))
  }

  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers freely
  async make(path: string, fields: object): Promise<any> {
    const { status, body } = await this.daemon.post(`/api${path}`, TOKEN, fields)
    if (status !== 201) throw new Error(`POST ${path} answered ${status}: ${JSON.stringify(body)}`)
    return body.data
  }

  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers freely
  async get(path: string): Promise<any> {
    return (await this.daemon.get(`/api${path}`, TOKEN)).body.data
  }

  /** An agent that the provider answers for. */
  async agent(name: string, fields: object = {}): Promise<{ id: string }> {
    const model = await this.make('/models', { ...this.provider.model, name: `${name} model`, pricing: { input: 0.5, output: 1.5 } })
    return this.make('/agents', { name, model_id: model.id, ...fields })
  }

  /** The provider does this from now on, the last of it for ever. */
  script(...steps: [Step, ...Step[]]): void {
    this.provider.script = steps
  }

  chat(started: Partial<Started> = {}): ChatTerminal {
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
    await stopDaemon(this.daemon, 'SIGKILL')
  }

  async restart(): Promise<void> {
    this.daemon = await startDaemon(this.home)
  }

  async close(): Promise<void> {
    for (const terminal of this.#terminals) await terminal.close()
    await this.provider.close()
    await stopDaemon(this.daemon)
    rmSync(this.home, { recursive: true, force: true, maxRetries: 3 })
  }
}
