/** Models: where they are reached, the keys that are kept for them, and how they are asked. */
import { CadreError, createNotFoundError, createValidationError } from '../../src/contract/errors.ts'
import { EMBEDDED_MODEL_ID, models } from '../../src/contract/families/models.ts'
import type { Acquire } from '../async/semaphore.ts'
import type { Caller, ChangeContext } from '../core/caller.ts'
import type { CallOrigin, Meter, MeteredModel, Settlement } from '../core/meter.ts'
import { Resource } from '../crud/resource.ts'
import type { Embedder } from '../embedding/embedder.ts'
import { resolveEndpoint } from '../providers/endpoints.ts'
import type { RemoteModel } from '../providers/remote-model.ts'
import type { Vault } from '../secrets/vault.ts'
import type { Database, Reader, Transaction } from '../store/database.ts'
import type { ChatModel, ChatRequest, ContextPassage, Price } from './chat-model.ts'
import { getContextWindow } from './context-windows.ts'
import { EmbeddedChatModel } from './embedded/embedded-chat-model.ts'
import { NOT_FOUND } from './embedded/extract-answer.ts'
import { type GeneratedText, generateText, generateUnsettledText } from './generate-text.ts'
import type { AvailableModel, ModelDiscovery } from './model-discovery.ts'
import {
  createBuiltInModelError,
  isDifferentModel,
  type ModelInput,
  prepareModel,
  prepareReplayModel,
  resolveModelId,
} from './prepare-model.ts'
import type { ProviderRegistry } from './providers/provider-registry.ts'
import { deleteRecordings } from './replay/recording-store.ts'
import { ReplayChatModel } from './replay/replay-chat-model.ts'
import { defaultModelId, hasRemoteModel, isRemote, modelRecords, type StoredModel, stopRecordings } from './store.ts'
import { fitPassages } from './system-prompt.ts'
import { estimateTokens } from './token-estimate.ts'

export type { GeneratedText as Generated } from './generate-text.ts'

export interface ModelsDependencies {
  database: Database
  vault: Vault
  providers: ProviderRegistry
  discovery: ModelDiscovery
  /** Told, in the transaction of the change, of a model that is another one from now on. */
  invalidateEmbeddings(transaction: Transaction, id: string): Promise<void>
  /** The embedded embedding model, which the embedded chat model quotes by. */
  getEmbedder(): Promise<Embedder>
  meter: Meter
}

export interface GenerationRequest extends ChatRequest {
  /** Null for the default model. */
  modelId: string | null
  origin: CallOrigin
  /** Waited for before the model is asked. */
  turn?: Acquire
}

export interface AnswerOptions {
  modelId: string | null
  question: string
  passages: readonly ContextPassage[]
  origin: CallOrigin
  signal: AbortSignal
}

const UNASKED = { usage: { inputTokens: 0, outputTokens: 0, cachedTokens: 0 }, cost: 0, finishReason: 'stop', latencyMs: 0 } as const
const FREE: Price = { input: 0, output: 0 }
/** Of what a model reads; the rest is for the instructions and the answer. */
const SHARE_OF_PASSAGES = 0.6

export interface DiscoveredModel extends AvailableModel {
  added: string | null
}

export interface AdoptInput {
  origin: string
  model_id?: string
  name?: string
}

export class ModelsService extends Resource<StoredModel, ModelInput> {
  readonly #parts: ModelsDependencies
  readonly #recording = new Map<string, Promise<void>>()

  constructor(parts: ModelsDependencies) {
    const { database, vault, providers } = parts
    super(database, models, modelRecords, {
      prepare: async (record, given, situation) => {
        const next = prepareModel(vault, await prepareReplayModel(record, situation), given, situation)
        if (isRemote(next)) providers.preload()
        if (situation.current && isDifferentModel(situation.current, next)) await parts.invalidateEmbeddings(situation.transaction, next.id)
        return next
      },
      beforeRemove: async (transaction, record) => {
        await deleteRecordings(transaction, record.id)
        await stopRecordings(transaction, record)
        providers.remove(record.id)
      },
      openSecrets: ({ id, api_key }) => ({ api_key: api_key === null ? null : vault.open(api_key, `${id}/api_key`) }),
    })
    this.#parts = parts
  }

  /** Who uses the embedded model need not be asked. */
  override async removeInTransaction(transaction: Transaction, record: StoredModel, force: boolean): Promise<void> {
    if (record.id === EMBEDDED_MODEL_ID) throw createBuiltInModelError()
    return super.removeInTransaction(transaction, record, force)
  }

  /** Makes ready what asking a provider takes, where there is a model of one: the first who asks does not wait for it. */
  async preload(): Promise<void> {
    if (await hasRemoteModel(this.database)) this.#parts.providers.preload()
  }

  /** The id of a model named by its id, or by its provider's name for it where only one model has that. */
  async resolve(reader: Reader, named: string, field: string): Promise<string> {
    return resolveModelId(reader, named, field)
  }

  /** An answer to a question from passages that were found for it, citing them as [1], [2] and so on. */
  async answer({ modelId, question, passages, origin, signal }: AnswerOptions): Promise<GeneratedText> {
    const model = await this.getChatModel(this.database, modelId)
    // Nothing found is nothing to answer from, whoever would.
    if (passages.length === 0) return { ...UNASKED, text: NOT_FOUND, model_id: model.id }
    const room = model.contextTokens * SHARE_OF_PASSAGES - estimateTokens(question)
    const messages = [{ role: 'user' as const, content: question }]
    return this.generate({ modelId, messages, passages: fitPassages(passages, room), origin, signal })
  }

  /** A model to talk to, as it is recorded now; null is the default one. Nothing is called yet. */
  async getChatModel(reader: Reader, id: string | null): Promise<ChatModel> {
    const wanted = id ?? (await defaultModelId(reader))
    const found = await this.records.get(reader, wanted)
    if (!found) throw createNotFoundError('model', wanted)
    const { getEmbedder: embedder, providers } = this.#parts
    if (found.provider === 'embedded') return new EmbeddedChatModel(found.id, found.name, embedder)
    if (found.provider === 'replay') return this.#replay(reader, found)
    return providers.model({
      ...this.#opened(found),
      name: found.name,
      price: priceOf(found),
      callsTools: found.supports_tools ?? true,
      ...getContextWindow(found.provider, found.model_id, found.context_window),
    })
  }

  async #replay(reader: Reader, { id, name, model_id, recording, supports_tools, context_window }: StoredModel): Promise<ChatModel> {
    const { database, meter } = this.#parts
    const source = (await this.exists(reader, model_id)) ? await this.getChatModel(reader, model_id) : undefined
    return new ReplayChatModel({
      id,
      name,
      database,
      meter,
      pendingRequests: this.#recording,
      callsTools: supports_tools ?? source?.canCallTools ?? true,
      window: context_window === null && source ? source : getContextWindow('openai', '', context_window),
      source: recording === false ? undefined : source,
      unavailableReason: recording === false ? 'recording is off' : 'the model it records is gone',
    })
  }

  /** What could be added, and what of it is here already. */
  async discover(): Promise<DiscoveredModel[]> {
    const found = await this.#parts.discovery.list()
    return Promise.all(found.map(async (model) => ({ ...model, added: await this.#added(model) })))
  }

  /** Adds a model that was discovered; its key goes straight from the environment into the vault. */
  async adopt(change: ChangeContext, { origin, model_id, name }: AdoptInput): Promise<StoredModel> {
    const { discovery } = this.#parts
    const found = await discovery.list(origin)
    const key = discovery.findKey(origin)
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

  async #added({ provider, model_id, endpoint }: AvailableModel): Promise<string | null> {
    const alike = await this.records.find(this.database, { provider, model_id }, 100)
    return alike.find((model) => resolveEndpoint(provider, model.endpoint) === resolveEndpoint(provider, endpoint))?.id ?? null
  }

  /** A whole reply, metered. The request's messages may be as long as they like: whoever asks trims. */
  async generate({ modelId, origin, turn, ...request }: GenerationRequest): Promise<GeneratedText> {
    return generateText(this.#parts, await this.getChatModel(this.#parts.database, modelId), request, { origin, turn })
  }

  /** The same, with what is left to be settled: for whoever has something to store with it. */
  async generateUnsettled(
    model: ChatModel,
    { origin, turn, ...request }: Omit<GenerationRequest, 'modelId'>,
  ): Promise<GeneratedText & { unsettled: Settlement }> {
    return generateUnsettledText(this.#parts, model, request, { origin, turn })
  }

  /** The record of the model that is meant, without its key; null is the default one. */
  async findPublicModel(
    reader: Reader,
    id: string | null,
  ): Promise<Omit<StoredModel, 'api_key' | 'allow_private' | 'version'> | undefined> {
    const found = await this.records.get(reader, id ?? (await defaultModelId(reader)))
    if (!found) return undefined
    const { api_key: _, allow_private: __, version: ___, ...shown } = found
    return shown
  }

  /** A model as its calls are counted; the embedding model that comes with Cadre has no record and costs nothing. */
  async getMeteredModel(reader: Reader, id: string): Promise<MeteredModel> {
    const found = await this.records.get(reader, id)
    return { id, price: found ? priceOf(found) : FREE }
  }

  /** What is needed to call a model, its key opened: for whoever calls it, never for an answer. */
  async findCredentials(reader: Reader, id: string): Promise<RemoteModel | undefined> {
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
