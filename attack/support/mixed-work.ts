/** Clients that create, change, delete, upload, chat and configure until the daemon is gone, and remember what was acknowledged. */
import type { Json } from '../../test/harness/test-server.ts'
import type { Client } from './client.ts'

/** A request whose effect must exist once if it was acknowledged, and at most once if not. */
interface Write {
  kind: 'agent' | 'document' | 'memory' | 'message' | 'webhook'
  /** Unique; also the Idempotency-Key. */
  name: string
  path: string
  body: object
  /** Data of the response, once acknowledged. */
  acknowledged?: Json
}

/** An agent that one client changes and finally deletes. */
interface ChangedAgent {
  id: string
  /** The highest acknowledged value and the highest that was sent. */
  acknowledged: number
  sent: number
  deletion: 'none' | 'sent' | 'acknowledged'
}

const MAX_IDLE_MINUTES = 10_000

export class MixedWork {
  readonly #client: Client
  /** Answers messages with "You said: …". */
  readonly #agentId: string
  readonly #name: string
  readonly #writes: Write[] = []
  readonly #changed: ChangedAgent[] = []
  /** Values of a setting. */
  readonly #setting = { acknowledged: 0, sent: 0 }
  /** Number of acknowledged writes. */
  acknowledged = 0
  /** Called after each acknowledged write. */
  onAcknowledged: (count: number) => void = () => {}
  #conversation = ''
  #source = ''

  constructor(client: Client, agentId: string, name: string) {
    this.#client = client
    this.#agentId = agentId
    this.#name = name
  }

  /** Works until a request fails, which happens when the daemon is killed. */
  async run(): Promise<void> {
    try {
      const conversation = await this.#client.create('/conversations', { agent_id: this.#agentId })
      const source = await this.#client.create('/knowledge-sources', { name: this.#name, type: 'file' })
      this.#conversation = `/conversations/${conversation.id}`
      this.#source = `/knowledge-sources/${source.id}`
    } catch {
      return // killed
    }
    const workers = [this.#createAgents(0), this.#createAgents(1), this.#upload(), this.#chat(), this.#change(), this.#createWebhooks()]
    workers.push(this.#remember(), this.#configure())
    await Promise.allSettled(workers)
  }

  async #send(kind: Write['kind'], name: string, path: string, body: object): Promise<void> {
    const write: Write = { kind, name, path, body }
    this.#writes.push(write)
    const { status, text, data } = await this.#client.post(path, body, { key: name })
    if (status >= 300) throw new Error(`${path} returned ${status}: ${text}`)
    write.acknowledged = data
    this.#count()
  }

  #count(): void {
    this.onAcknowledged(++this.acknowledged)
  }

  async #createAgents(worker: number): Promise<never> {
    for (let count = 0; ; count++) {
      const name = `${this.#name}-agent-${worker}-${count}`
      await this.#send('agent', name, '/agents', { name, description: this.#name })
    }
  }

  async #upload(): Promise<never> {
    for (let count = 0; ; count++) {
      const name = `${this.#name}-${count}.md`
      await this.#send('document', name, `${this.#source}/documents`, { name, content: `${name}\n`.repeat(200) })
    }
  }

  async #chat(): Promise<never> {
    for (let count = 0; ; count++) {
      const message = `${this.#name}-question-${count}`
      await this.#send('message', message, `${this.#conversation}/messages`, { message })
    }
  }

  async #createWebhooks(): Promise<never> {
    for (let count = 0; ; count++) {
      const description = `${this.#name}-webhook-${count}`
      await this.#send('webhook', description, '/webhooks', { url: this.#hookUrl, description, events: ['conversation.completed'] })
    }
  }

  /** Each memory has a user of its own: similar memories of a user replace each other. */
  async #remember(): Promise<never> {
    for (let count = 0; ; count++) {
      const content = `${this.#name}-memory-${count}`
      await this.#send('memory', content, '/memories', { agent_id: this.#agentId, user_id: content, content })
    }
  }

  async #configure(): Promise<never> {
    for (let value = 1; ; value = (value % MAX_IDLE_MINUTES) + 1) {
      this.#setting.sent = value
      const { status, text } = await this.#client.call('PATCH', '/settings', { conversation_idle_minutes: value })
      if (status >= 300) throw new Error(`/settings returned ${status}: ${text}`)
      this.#setting.acknowledged = value
      this.#count()
    }
  }

  get #hookUrl(): string {
    return `https://hooks.example.com/${this.#name}`
  }

  async #change(): Promise<never> {
    for (let count = 0; ; count++) {
      const { id } = await this.#client.create('/agents', { name: `${this.#name}-changed-${count}` })
      const agent: ChangedAgent = { id, acknowledged: 0, sent: 0, deletion: 'none' }
      this.#changed.push(agent)
      for (let value = 1; value <= 5; value++) {
        agent.sent = value
        await this.#client.call('PATCH', `/agents/${id}`, { max_tokens: value })
        agent.acknowledged = value
        this.#count()
      }
      if (count % 2 === 0) continue
      agent.deletion = 'sent'
      await this.#client.call('DELETE', `/agents/${id}`)
      agent.deletion = 'acknowledged'
      this.#count()
    }
  }

  /** Contents of the acknowledged documents. */
  listContents(): string[] {
    const documents = this.#writes.filter(({ kind, acknowledged }) => kind === 'document' && acknowledged !== undefined)
    return documents.map(({ body }) => (body as { content: string }).content)
  }

  /** Checks after a restart that everything acknowledged exists once. Returns what does not. */
  async check(client: Client): Promise<string[]> {
    const problems: string[] = []
    for (const write of this.#writes) if (write.acknowledged === undefined) problems.push(...(await this.#repeat(client, write)))
    if (this.#source === '') return problems
    const { messages } = (await client.get(this.#conversation)).data
    const found = {
      agent: groupIds(await client.list(`/agents?description=${this.#name}`), 'name'),
      document: groupIds(await client.list(`${this.#source}/documents`), 'name'),
      webhook: groupIds(await client.list(`/webhooks?url=${encodeURIComponent(this.#hookUrl)}`), 'description'),
      message: groupIds(messages, 'content'),
      memory: groupIds(await client.list(`/memories?agent_id=${this.#agentId}`), 'content'),
    }
    for (const { kind, name, acknowledged } of this.#writes) {
      const ids = found[kind].get(name) ?? []
      if (ids.length !== 1) problems.push(`${kind} "${name}" exists ${ids.length} times`)
      const expected = kind === 'message' ? found.message.get(`You said: ${name}`) : ids
      if (!expected?.includes(acknowledged?.id)) problems.push(`${kind} "${name}" is not the acknowledged one`)
    }
    const setting = (await client.get('/settings')).data.conversation_idle_minutes
    const { acknowledged, sent } = this.#setting
    if (acknowledged > 0 && setting !== acknowledged && setting !== sent)
      problems.push(`the setting is ${setting}, acknowledged ${acknowledged}, sent ${sent}`)
    for (const agent of this.#changed) problems.push(...(await checkChangedAgent(client, agent)))
    return problems
  }

  /** Sends an unacknowledged request again with its key. It must have one effect in total. */
  async #repeat(client: Client, write: Write): Promise<string[]> {
    const { status, text, data } = await client.post(write.path, write.body, { key: write.name })
    write.acknowledged = data
    return status < 300 ? [] : [`repeating ${write.path} with key "${write.name}" returned ${status}: ${text.slice(0, 300)}`]
  }
}

async function checkChangedAgent(client: Client, { id, acknowledged, sent, deletion }: ChangedAgent): Promise<string[]> {
  const { status, data } = await client.get(`/agents/${id}`)
  if (status === 404) return deletion === 'none' ? [`agent ${id} is gone without a deletion`] : []
  if (deletion === 'acknowledged') return [`agent ${id} exists after an acknowledged deletion`]
  const value = data?.max_tokens ?? 0
  return value >= acknowledged && value <= sent ? [] : [`agent ${id} has value ${value}, acknowledged ${acknowledged}, sent ${sent}`]
}

/** Groups the ids of items by a field. */
function groupIds(items: readonly Json[], field: string): Map<string, string[]> {
  const groups = new Map<string, string[]>()
  for (const item of items) groups.set(item[field], [...(groups.get(item[field]) ?? []), item.id])
  return groups
}
