/** Memories: facts that agents keep about users. Each belongs to one agent and one user. */
import type { Static } from 'typebox'
import { CadreError, createValidationError } from '../../src/contract/errors.ts'
import { type Memory, type MemoryMatch, memories, type memoryRoutes } from '../../src/contract/families/memory/memories.ts'
import type { ListQuery } from '../../src/contract/schemas/list-query.ts'
import type { AgentsService } from '../agents/service.ts'
import { type Caller, type ChangeContext, getUserId } from '../core/caller.ts'
import { overwriteDeleted } from '../core/overwrite-deleted.ts'
import { type FamilyInput, type PrepareContext, Resource } from '../crud/resource.ts'
import type { EmbeddingService } from '../embedding/service.ts'
import type { Shared } from '../shared-services.ts'
import type { Transaction } from '../store/database.ts'
import type { Page, Scope } from '../store/records.ts'
import { contradicts, normalizeFact } from './compare-facts.ts'
import { containsSecret } from './detect-secret.ts'
import { encodeVector, type RankedMemory, rankMemories } from './rank-memories.ts'
import {
  findMemories,
  hasExpiredMemories,
  listExpiredMemories,
  listMemories,
  memoryRecords,
  type Owner,
  type StoredMemory,
  saveVector,
} from './store.ts'

/** Of one agent and user. All of them are compared in a search. */
const MAX_MEMORIES = 1_000
const MAX_HISTORY = 20
const EMBEDDING_MODEL = 'minilm'
const DEFAULT_RESULTS = 10
/** Deleted in one transaction. */
const BATCH_SIZE = 100

/** Where a memory comes from that an agent writes. */
export type MemoryOrigin = Pick<Memory, 'has_untrusted_text' | 'conversation_id' | 'message_id'>
type MemoryInput = FamilyInput<typeof memories> & Partial<MemoryOrigin & Pick<Memory, 'source'>>

interface MemoriesDependencies extends Shared<'database' | 'events' | 'logger'> {
  agents: AgentsService
  embedding: EmbeddingService
}

export class MemoriesService extends Resource<StoredMemory, MemoryInput, Memory> {
  readonly #dependencies: MemoriesDependencies

  constructor(dependencies: MemoriesDependencies) {
    super(dependencies.database, memories, memoryRecords, {
      prepare: (record, input, context) => prepareMemory(dependencies.agents, record, input, context),
      getScope: (caller): Scope => (caller.role === 'admin' ? {} : { user_id: getUserId(caller) }),
      getLabel: ({ content }) => content,
      afterSave: (record) => this.#embed([record]),
    })
    this.#dependencies = dependencies
  }

  override async list(caller: Caller, query: ListQuery): Promise<Page<StoredMemory>> {
    await this.removeExpired()
    return super.list(caller, query)
  }

  /** A known fact is updated instead. */
  override async createInTransaction(transaction: Transaction, caller: Caller, input: MemoryInput) {
    const { agent_id, user_id } = requireOwnUser(caller, input as Static<typeof memoryRoutes.create.body>)
    const owner = { agentId: agent_id, userId: user_id }
    const known = await listMemories(transaction, owner, MAX_MEMORIES + 1)
    const words = normalizeFact(input.content ?? '')
    const same = known.find((memory) => memory.words === words) ?? known.findLast((memory) => contradicts(words, memory.words))
    if (same) {
      const { content, expires_at = null, has_untrusted_text = false } = input
      return this.updateInTransaction(transaction, caller, same, { content: content ?? same.content, expires_at, has_untrusted_text })
    }
    if (known.length >= MAX_MEMORIES)
      throw new CadreError('CONFLICT', `The agent already has ${MAX_MEMORIES} memories of this user.`, {
        hint: 'Delete some of them first: cadre memory list',
      })
    const saved = await overwriteDeleted(transaction, () =>
      super.createInTransaction(transaction, caller, { ...input, user_id } as MemoryInput),
    )
    await this.#publish(transaction, 'memory.created', saved.stored)
    return saved
  }

  override async updateInTransaction(transaction: Transaction, caller: Caller, current: StoredMemory, input: MemoryInput) {
    const saved = await overwriteDeleted(transaction, () => super.updateInTransaction(transaction, caller, current, input))
    await this.#publish(transaction, 'memory.updated', saved.stored)
    return saved
  }

  override async removeInTransaction(transaction: Transaction, record: StoredMemory, force: boolean): Promise<void> {
    await overwriteDeleted(transaction, () => super.removeInTransaction(transaction, record, force))
    await this.#publish(transaction, 'memory.deleted', record)
  }

  /** The log of the database still contains the fact. */
  override async remove(change: ChangeContext, id: string, force = false): Promise<string> {
    const message = await super.remove(change, id, force)
    await this.database.truncateLog()
    return message
  }

  /** Deletes all memories of a user. Nothing of them stays in the files. */
  async clear(caller: Caller, query: Static<typeof memoryRoutes.clear.query>): Promise<string> {
    const user_id = requireOwnUser(caller, query).user_id
    const filter = { ...query, user_id }
    let count = 0
    for (let deleted = -1; deleted !== 0; count += deleted)
      deleted = await this.database.write(async (transaction) => {
        const batch = await findMemories(transaction, filter, BATCH_SIZE)
        for (const memory of batch) await this.removeInTransaction(transaction, memory, false)
        return batch.length
      })
    await this.database.truncateLog()
    return `${count} ${count === 1 ? 'memory was' : 'memories were'} deleted.`
  }

  async search(caller: Caller, body: Static<typeof memoryRoutes.search.body>): Promise<{ memories: MemoryMatch[] }> {
    const { agent_id, user_id } = requireOwnUser(caller, body)
    if (!(await this.#dependencies.agents.exists(this.database, agent_id)))
      throw createValidationError('agent_id', `there is no agent "${agent_id}"`)
    const found = await this.recall({ agentId: agent_id, userId: user_id }, body.query, body.limit ?? DEFAULT_RESULTS)
    const matches = found.map(async ({ memory, score }) => ({ ...((await this.findView(this.database, memory.id)) ?? memory), score }))
    return { memories: await Promise.all(matches) }
  }

  /** Finds the memories of an owner by words and meaning, best first. */
  async recall(owner: Owner, query: string, limit: number): Promise<RankedMemory[]> {
    await this.removeExpired()
    const known = await listMemories(this.database, owner, MAX_MEMORIES)
    if (known.length === 0) return []
    const [vector] = await this.#computeVectors([query])
    return rankMemories(known, query, vector).slice(0, limit)
  }

  /** Returns the memories of an owner, newest first. */
  async listOf(owner: Owner): Promise<StoredMemory[]> {
    await this.removeExpired()
    return (await listMemories(this.database, owner, MAX_MEMORIES)).reverse()
  }

  /** Stores a fact that an agent writes in a reply. `replaces` is the memory that it corrects. `former` is the memory as it was before. */
  async remember(
    owner: Owner,
    { replaces, ...fact }: { content: string; expires_at: string | null; replaces?: string | undefined },
    origin: MemoryOrigin,
  ): Promise<{ memory: Memory; former: Memory | undefined }> {
    const change = actFor(owner)
    const known = await listMemories(this.database, owner, MAX_MEMORIES)
    const input = { ...fact, ...origin, source: 'agent' }
    const memory =
      replaces === undefined
        ? await this.create(change, { agent_id: owner.agentId, user_id: owner.userId, ...input } as MemoryInput)
        : await this.update(change, replaces, input as MemoryInput)
    return { memory, former: known.find(({ id }) => id === memory.id) }
  }

  /** Deletes a memory of an owner. */
  async forget(owner: Owner, id: string): Promise<string> {
    const { agent_id } = await this.require(this.database, actFor(owner).caller, id)
    if (agent_id !== owner.agentId) throw new CadreError('NOT_FOUND', `There is no memory "${id}".`)
    return this.remove(actFor(owner), id)
  }

  /** Deletes the memories whose time has come. */
  async removeExpired(): Promise<void> {
    const now = new Date().toISOString()
    while (await hasExpiredMemories(this.database, now))
      await this.database.write(async (transaction) => {
        for (const memory of await listExpiredMemories(transaction, now)) await this.removeInTransaction(transaction, memory, false)
      })
  }

  /** Vectors only improve searches: without the model, words are found. */
  async #embed(records: readonly StoredMemory[]): Promise<void> {
    const missing = records.filter(({ vector }) => vector === null)
    const vectors = await this.#computeVectors(missing.map(({ content }) => content))
    if (vectors.length === 0) return
    await this.database.write(async (transaction) => {
      for (const [index, vector] of vectors.entries()) await saveVector(transaction, missing[index] as StoredMemory, encodeVector(vector))
    })
  }

  async #computeVectors(texts: readonly string[]): Promise<Float32Array[]> {
    if (texts.length === 0) return []
    const { embedding, logger } = this.#dependencies
    try {
      return await (await embedding.getEmbedder(EMBEDDING_MODEL)).embed(texts, { priority: 'high' })
    } catch (error) {
      logger.warn({ err: error }, 'memories are compared by their words only')
      return []
    }
  }

  async #publish(
    transaction: Transaction,
    name: 'memory.created' | 'memory.updated' | 'memory.deleted',
    memory: StoredMemory,
  ): Promise<void> {
    const { id, agent_id, user_id, source } = memory
    await this.#dependencies.events.publish(transaction, name, { memory_id: id, agent_id, user_id, source })
  }
}

/** Agents write with the permissions of the user whom they talk to. */
const actFor = ({ userId }: Owner): ChangeContext => ({ caller: { tokenId: '', role: 'member', userId } })

/** Only admins manage the memories of others. */
function requireOwnUser<T extends { user_id?: string | undefined }>(caller: Caller, input: T): T & { user_id: string } {
  const own = getUserId(caller)
  if (caller.role !== 'admin' && input.user_id !== undefined && input.user_id !== own)
    throw new CadreError('FORBIDDEN', 'Only an admin may use the memories of another user.', { hint: `Omit user_id, or send "${own}".` })
  return { ...input, user_id: input.user_id ?? own }
}

async function prepareMemory(
  agents: AgentsService,
  record: StoredMemory,
  input: MemoryInput,
  { transaction, current }: PrepareContext<StoredMemory>,
): Promise<StoredMemory> {
  if (!current && !(await agents.exists(transaction, record.agent_id)))
    throw createValidationError('agent_id', `there is no agent "${record.agent_id}"`)
  if (containsSecret(record.content))
    throw createValidationError('content', 'looks like a key, a token or a password', 'Secrets are never stored as memories.')
  const expires_at = record.expires_at === null || record.expires_at === undefined ? null : new Date(record.expires_at).toISOString()
  const words = normalizeFact(record.content)
  const common = { ...record, content: record.content.trim(), expires_at, words, source: input.source ?? 'user' }
  if (!current)
    return {
      ...common,
      history: [],
      vector: null,
      has_untrusted_text: false,
      conversation_id: null,
      message_id: null,
      ...pickOrigin(input),
    }
  if (words === current.words) return { ...common, source: current.source, content: current.content }
  const replaced = { content: current.content, replaced_at: new Date().toISOString() }
  return { ...common, ...pickOrigin(input), vector: null, history: [replaced, ...current.history].slice(0, MAX_HISTORY) }
}

const pickOrigin = ({ has_untrusted_text, conversation_id, message_id }: MemoryInput) => ({
  ...(has_untrusted_text === undefined ? {} : { has_untrusted_text }),
  ...(conversation_id === undefined ? {} : { conversation_id }),
  ...(message_id === undefined ? {} : { message_id }),
})
