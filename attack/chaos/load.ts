/** Creates, changes and deletes agents, syncs documents and runs evaluations, and remembers what was acknowledged. */
import { setTimeout as pause } from 'node:timers/promises'
import type { ChaosClient } from './client.ts'

const TEST_CASES = 4
const RUN_TIMEOUT_MS = 150_000

export interface AcknowledgedAgent {
  id: string
  name: string
  maxTokens: number
  isDeleted: boolean
}

export class Agents {
  readonly all: AcknowledgedAgent[] = []
  readonly #client: ChaosClient
  #count = 0

  constructor(client: ChaosClient) {
    this.#client = client
  }

  async run(): Promise<void> {
    const name = `written-${this.#count++}`
    const { id } = await this.#client.post('/agents', { name }, name)
    const agent: AcknowledgedAgent = { id, name, maxTokens: 0, isDeleted: false }
    this.all.push(agent)
    for (let value = 1; value <= 3; value++) {
      await this.#client.send({ method: 'PATCH', path: `/agents/${id}`, body: { max_tokens: value } })
      agent.maxTokens = value
    }
    if (this.#count % 2 === 0) return
    // A repeated deletion finds nothing if the first one was stored.
    await this.#client.send({ method: 'DELETE', path: `/agents/${id}` }, [404])
    agent.isDeleted = true
  }
}

export interface AcknowledgedDocument {
  id: string
  content: string
}

/** The documents of one source. */
export class Documents {
  /** By name. */
  readonly current = new Map<string, AcknowledgedDocument>()
  readonly removed = new Set<string>()
  readonly sourceId: string
  readonly #client: ChaosClient
  #count = 0

  constructor(client: ChaosClient, sourceId: string) {
    this.#client = client
    this.sourceId = sourceId
  }

  /** Adds documents, replaces another one, sometimes removes one, and starts a sync. */
  async run(): Promise<void> {
    const count = this.#count++
    const path = `/knowledge-sources/${this.sourceId}`
    const added = ['a', 'b', 'c'].map((letter) => this.#add(`${count}${letter}.md`, count, false))
    await Promise.all([this.#add(`${count}.md`, count, true), ...added])
    if (count > 2) await this.#add(`${count - 3}.md`, count, false)
    if (count % 5 === 4) {
      const name = `${count - 4}.md`
      const document = this.current.get(name)
      if (document) await this.#client.send({ method: 'DELETE', path: `${path}/documents/${document.id}` }, [404])
      this.current.delete(name)
      if (document) this.removed.add(document.id)
    }
    await this.#client.post(`${path}/sync`, undefined, `sync-${this.sourceId}-${count}`)
    await pause(300)
  }

  async #add(name: string, version: number, index: boolean): Promise<void> {
    const content = Array.from(
      { length: 3 },
      (_, part) => `# Part ${part}\n\nDocument ${name} of ${this.sourceId}, version ${version}.\n`,
    ).join('\n')
    const key = `${this.sourceId}-${name}-${version}`
    const { id } = await this.#client.post(`/knowledge-sources/${this.sourceId}/documents`, { name, content, index }, key)
    this.current.set(name, { id, content })
  }
}

export interface AcknowledgedRun {
  evaluationId: string
  runId: string
}

export class Evaluations {
  readonly all: AcknowledgedRun[] = []
  readonly #client: ChaosClient
  readonly #agentId: string
  #count = 0

  constructor(client: ChaosClient, agentId: string) {
    this.#client = client
    this.#agentId = agentId
  }

  async run(): Promise<void> {
    const name = `evaluation-${this.#count++}`
    const test_cases = Array.from({ length: TEST_CASES }, (_, index) => ({ input: `${name}-case-${index}`, expected_output: 'You said' }))
    const evaluation = await this.#client.post('/evaluations', { name, type: 'agent', target_id: this.#agentId, test_cases }, name)
    const { run_id } = await this.#client.post(`/evaluations/${evaluation.id}/run`, undefined, `${name}-run`)
    this.all.push({ evaluationId: evaluation.id, runId: run_id })
    const path = `/evaluations/${evaluation.id}/runs/${run_id}`
    for (const deadline = Date.now() + RUN_TIMEOUT_MS; ; await pause(500)) {
      const { status } = (await this.#client.get(path)).data
      if (status !== 'queued' && status !== 'running') return
      if (Date.now() > deadline) throw new Error(`run ${run_id} did not end within ${RUN_TIMEOUT_MS / 1000} s`)
    }
  }
}
