/** Models: where they are reached, the keys that are kept for them, and how they are asked. */
import { CadreError, createNotFoundError, createValidationError } from '../../src/contract/errors.ts'
import { EMBEDDED_MODEL_ID, models } from '../../src/contract/families/models.ts'
import type { Turn } from '../async/semaphore.ts'
import type { Caller, Change } from '../core/caller.ts'
import type { CallOrigin, Meter, MeteredModel, Settlement } from '../core/meter.ts'
import { Resource } from '../crud/resource.ts'
import type { Embedder } from '../embedding/embedder.ts'
import type { RemoteModel } from '../embedding/service.ts'
import type { Vault } from '../secrets/vault.ts'
import type { Database, Reader, Transaction } from '../store/database.ts'
import type { ChatModel, ChatRequest, GivenPassage, Price } from './chat-model.ts'
import { windowOf } from './context-windows.ts'
import type { Discovery, Found } from './discover-models.ts'
import { EmbeddedModel } from './embedded/embedded-chat-model.ts'
import { NOT_FOUND } from './embedded/extract-answer.ts'
import { type Generated, generate, generateUnsettled } from './generate-text.ts'
import { builtIn, isAnother, type ModelInput, prepared, replaying, resolved } from './model-rules.ts'
import { addressOf } from './providers/endpoints.ts'
import type { Providers } from './providers/registry.ts'
import { forgetRecordings } from './replay/recording-store.ts'
import { ReplayModel } from './replay/replay-chat-model.ts'
import { anyRemote, defaultModelId, endRecordingOf, isRemote, modelRecords, type StoredModel } from './store.ts'
import { fitting } from './system-prompt.ts'
import { estimateTokens } from './token-estimate.ts'

export type { Generated } from './generate-text.ts'

export interface ModelParts {
  database: Database
  vault: Vault
  providers: Providers
  discovery: Discovery
  /** Told, in the transaction of the change, of a model that is another one from now on. */
  replaced(transaction: Transaction, id: string): Promise<void>
  /** The embedded embedding model, which the embedded chat model quotes by. */
  embedder(): Promise<Embedder>
  meter: Meter
}

export interface Generation extends ChatRequest {
  /** Null for the default model. */
  modelId: string | null
  origin: CallOrigin
  /** Waited for before the model is asked. */
  turn?: Turn
}

export interface Question {
  modelId: string | null
  question: string
  passages: readonly GivenPassage[]
  origin: CallOrigin
  signal: AbortSignal
}

const UNASKED = { usage: { inputTokens: 0, outputTokens: 0, cachedTokens: 0 }, cost: 0, finishReason: 'stop', latencyMs: 0 } as const
const FREE: Price = { input: 0, output: 0 }
/** Of what a model reads; the rest is for the instructions and the answer. */
const SHARE_OF_PASSAGES = 0.6

export interface Discovered extends Found {
  added: string | null
}

export interface Adopted {
  origin: string
  model_id?: string
  name?: string
}

export class ModelsService extends Resource<StoredModel, ModelInput> {
  readonly #parts: ModelParts
  readonly #recording = new Map<string, Promise<void>>()

  constructor(parts: ModelParts) {
    const { database, vault, providers } = parts
    super(database, models, modelRecords, {
      prepare: async (record, given, situation) => {
        const next = prepared(vault, await replaying(record, situation), given, situation)
        if (isRemote(next)) providers.warm()
        if (situation.current && isAnother(situation.current, next)) await parts.replaced(situation.transaction, next.id)
        return next
      },
      beforeRemove: async (transaction, record) => {
        await forgetRecordings(transaction, record.id)
        await endRecordingOf(transaction, record)
        providers.forget(record.id)
      },
      openSecrets: ({ id, api_key }) => ({ api_key: api_key === null ? null : vault.open(api_key, `${id}/api_key`) }),
    })
    this.#parts = parts
  }

  /** Who uses the embedded model need not be asked. */
  override async removeInTransaction(transaction: Transaction, record: StoredModel, force: boolean): Promise<void> {
    if (record.id === EMBEDDED_MODEL_ID) throw builtIn()
    return super.removeInTransaction(transaction, record, force)
  }

  /** Makes ready what asking a provider takes, where there is a model of one: the first who asks does not wait for it. */
  async warm(): Promise<void> {
    if (await anyRemote(this.database)) this.#parts.providers.warm()
  }

  /** The id of a model named by its id, or by its provider's name for it where only one model has that. */
  async resolve(reader: Reader, named: string, field: string): Promise<string> {
    return resolved(reader, named, field)
  }

  /** An answer to a question from passages that were found for it, citing them as [1], [2] and so on. */
  async answer({ modelId, question, passages, origin, signal }: Question): Promise<Generated> {
    const model = await this.chat(this.database, modelId)
    // Nothing found is nothing to answer from, whoever would.
    if (passages.length === 0) return { ...UNASKED, text: NOT_FOUND, model_id: model.id }
    const room = model.contextTokens * SHARE_OF_PASSAGES - estimateTokens(question)
    const messages = [{ role: 'user' as const, content: question }]
    return this.generate({ modelId, messages, passages: fitting(passages, room), origin, signal })
  }

  /** A model to talk to, as it is recorded now; null is the default one. Nothing is called yet. */
  async chat(reader: Reader, id: string | null): Promise<ChatModel> {
    const wanted = id ?? (await defaultModelId(reader))
    const found = await this.records.get(reader, wanted)
    if (!found) throw createNotFoundError('model', wanted)
    const { embedder, providers } = this.#parts
    if (found.provider === 'embedded') return new EmbeddedModel(found.id, found.name, embedder)
    if (found.provider === 'replay') return this.#replay(reader, found)
    return providers.model({
      ...this.#opened(found),
      name: found.name,
      price: priceOf(found),
      callsTools: found.supports_tools ?? true,
      ...windowOf(found.provider, found.model_id, found.context_window),
    })
  }

  async #replay(reader: Reader, { id, name, model_id, recording, supports_tools, context_window }: StoredModel): Promise<ChatModel> {
    const { database, meter } = this.#parts
    const source = (await this.exists(reader, model_id)) ? await this.chat(reader, model_id) : undefined
    return new ReplayModel({
      id,
      name,
      database,
      meter,
      underWay: this.#recording,
      callsTools: supports_tools ?? source?.callsTools ?? true,
      window: context_window === null && source ? source : windowOf('openai', '', context_window),
      source: recording === false ? undefined : source,
      silence: recording === false ? 'recording is off' : 'the model it records is gone',
    })
  }

  /** What could be added, and what of it is here already. */
  async discover(): Promise<Discovered[]> {
    const found = await this.#parts.discovery.find()
    return Promise.all(found.map(async (model) => ({ ...model, added: await this.#added(model) })))
  }

  /** Adds a model that was discovered; its key goes straight from the environment into the vault. */
  async adopt(change: Change, { origin, model_id, name }: Adopted): Promise<StoredModel> {
    const { discovery } = this.#parts
    const found = await discovery.find(origin)
    const key = discovery.key(origin)
    const [any] = found
    const listed = model_id === undefined ? any : found.find((model) => model.model_id === model_id)
    // What a key opens is not listed: its provider knows.
    const wanted = listed ?? (any && key !== undefined && model_id !== undefined ? { ...any, model_id, name: model_id } : undefined)
    if (!wanted)
      throw createValidationError(
        'origin',
        `no such model was discovered at ${origin}`,
        'GET /api/models/discover (cadre models discover) shows what there is.',
      )
    const added = await this.#added(wanted)
    if (added !== null)
      throw new CadreError('CONFLICT', `The model ${wanted.model_id} of ${origin} is here already.`, { hint: `It is ${added}.` })
    const { provider, endpoint } = wanted
    return this.create(change, {
      name: name ?? wanted.name,
      provider,
      model_id: wanted.model_id,
      endpoint,
      ...(key === undefined ? {} : { api_key: key }),
    } as ModelInput)
  }

  /** A short exchange with a model, to see whether it is there. */
  async test({ userId }: Caller, id: string, signal: AbortSignal): Promise<{ ok: boolean; text: string; latency_ms: number }> {
    if (!(await this.exists(this.database, id))) throw createNotFoundError('model', id)
    const messages = [{ role: 'user' as const, content: 'Say hello in one short sentence.' }]
    const { text, latencyMs } = await this.generate({ modelId: id, messages, origin: userId === null ? {} : { user_id: userId }, signal })
    return { ok: true, text, latency_ms: latencyMs }
  }

  async #added({ provider, model_id, endpoint }: Found): Promise<string | null> {
    const alike = await this.records.find(this.database, { provider, model_id }, 100)
    return alike.find((model) => addressOf(provider, model.endpoint) === addressOf(provider, endpoint))?.id ?? null
  }

  /** A whole reply, metered. The request's messages may be as long as they like: whoever asks trims. */
  async generate({ modelId, origin, turn, ...request }: Generation): Promise<Generated> {
    return generate(this.#parts, await this.chat(this.#parts.database, modelId), request, { origin, turn })
  }

  /** The same, with what is left to be settled: for whoever has something to store with it. */
  async generateUnsettled(
    model: ChatModel,
    { origin, turn, ...request }: Omit<Generation, 'modelId'>,
  ): Promise<Generated & { unsettled: Settlement }> {
    return generateUnsettled(this.#parts, model, request, { origin, turn })
  }

  /** The record of the model that is meant, without its key; null is the default one. */
  async described(reader: Reader, id: string | null): Promise<Omit<StoredModel, 'api_key' | 'allow_private' | 'version'> | undefined> {
    const found = await this.records.get(reader, id ?? (await defaultModelId(reader)))
    if (!found) return undefined
    const { api_key: _, allow_private: __, version: ___, ...shown } = found
    return shown
  }

  /** A model as its calls are counted; the embedding model that comes with Cadre has no record and costs nothing. */
  async counted(reader: Reader, id: string): Promise<MeteredModel> {
    const found = await this.records.get(reader, id)
    return { id, price: found ? priceOf(found) : FREE }
  }

  /** What is needed to call a model, its key opened: for whoever calls it, never for an answer. */
  async credentials(reader: Reader, id: string): Promise<RemoteModel | undefined> {
    const found = await this.records.get(reader, id)
    return found && this.#opened(found)
  }

  #opened({ id, provider, model_id, endpoint, api_key, allow_private }: StoredModel): RemoteModel {
    const key = api_key === null ? null : this.#parts.vault.open(api_key, `${id}/api_key`)
    // A provider's usual address is where it is, on this machine too.
    return { id, provider, model_id, endpoint, api_key: key, allow_private: endpoint === null || allow_private === 1 }
  }
}

function priceOf({ pricing }: StoredModel): Price | null {
  if (pricing === null) return null
  return 'input' in pricing ? pricing : { input: pricing.input_per_1k, output: pricing.output_per_1k }
}
