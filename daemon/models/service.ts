/** The models service: stores models and their API keys, and creates chat models from them. */
import { CadreError, createNotFoundError } from '../../src/contract/errors.ts'
import { EMBEDDED_MODEL_ID, models } from '../../src/contract/families/models.ts'
import { maySpend } from '../../src/contract/route.ts'
import type { ListQuery } from '../../src/contract/schemas/list-query.ts'
import type { Caller } from '../core/caller.ts'
import { isFree } from '../core/compute-cost.ts'
import type { CallOrigin, Meter, MeteredModel } from '../core/meter.ts'
import type { DocumentCount } from '../core/tool.ts'
import { Resource } from '../crud/resource.ts'
import type { AnswerModels } from '../inference/embedded-models.ts'
import type { Shared } from '../shared-services.ts'
import type { DatabaseReader, Transaction } from '../store/database.ts'
import type { ChatInput, ChatModel, ContextPassage, Price } from './chat-model.ts'
import { getContextWindow } from './context-windows.ts'
import { type GeneratedText, type GenerationOptions, generateText, generateUnsettledText, type UnsettledText } from './generate-text.ts'
import { resolveImageSupport } from './image-support.ts'
import {
  createBuiltInModelError,
  findModelIds,
  isDifferentModel,
  type ModelInput,
  prepareModel,
  prepareReplayModel,
  resolveModelId,
} from './prepare-model.ts'
import type { ProviderRegistry } from './providers/provider-registry.ts'
import type { RemoteModel } from './providers/remote-model.ts'
import { EmbeddedChatModel } from './quoted-answers/embedded-chat-model.ts'
import { formatRefusal } from './quoted-answers/format-refusal.ts'
import { deleteRecordings } from './replay/recording-store.ts'
import { createReplayChatModel } from './replay/replay-chat-model.ts'
import { getDefaultModelId, hasRemoteModel, isRemote, modelRecords, type StoredModel, stopRecordings } from './store.ts'
import { fitPassages } from './system-prompt.ts'
import { estimateTokens } from './token-estimate.ts'

export type { GeneratedText } from './generate-text.ts'

type GenerationInput = ChatInput & GenerationOptions

export interface ModelsDependencies extends Shared<'database' | 'vault'> {
  providers: ProviderRegistry
  /** Called in the transaction that changes a model's provider, name or endpoint. */
  invalidateEmbeddings(transaction: Transaction, id: string): Promise<void>
  /** The embedded reading model, which the embedded chat model uses. */
  embedded: AnswerModels
  meter: Meter
}

interface AnswerOptions extends Pick<ChatInput, 'compute' | 'owner' | 'priority' | 'listNeighbours'> {
  modelId: string | null
  question: string
  passages: readonly ContextPassage[]
  /** Whether only passages that match a filter were searched. */
  isFiltered: boolean
  /** Returns the number of documents that were searched. */
  countDocuments(): Promise<DocumentCount>
  origin: CallOrigin
  signal: AbortSignal
}

const MAX_FILTERED_MODELS = 100
const NO_USAGE = { input_tokens: 0, output_tokens: 0, status: 'done', estimated: false } as const
const NO_CALL = { usage: NO_USAGE, cost: 0, latencyMs: 0, confidence: 'none' } as const
const FREE: Price = { input: 0, output: 0 }
/** Share of the context window for passages; the rest is for the instructions and the answer. */
const PASSAGE_SHARE = 0.6

export class ModelsService extends Resource<StoredModel, ModelInput> {
  readonly #dependencies: ModelsDependencies
  readonly #pendingRecordings = new Map<string, Promise<void>>()

  constructor(dependencies: ModelsDependencies) {
    const { database, vault, providers } = dependencies
    super(database, models, modelRecords, {
      prepare: async (record, input, context) => {
        const next = prepareModel(vault, await prepareReplayModel(record, context), input, context)
        if (isRemote(next)) providers.preload()
        if (context.current && isDifferentModel(context.current, next))
          await dependencies.invalidateEmbeddings(context.transaction, next.id)
        return next
      },
      beforeRemove: async (transaction, record) => {
        await deleteRecordings(transaction, record.id)
        await stopRecordings(transaction, record)
        providers.remove(record.id)
      },
      openSecrets: ({ id, api_key }) => ({ api_key: api_key === null ? null : vault.open(api_key, `${id}/api_key`) }),
    })
    this.#dependencies = dependencies
  }

  /** Rejects the embedded model before its references are checked. */
  override async removeInTransaction(transaction: Transaction, record: StoredModel, force: boolean): Promise<void> {
    if (record.id === EMBEDDED_MODEL_ID) throw createBuiltInModelError()
    return super.removeInTransaction(transaction, record, force)
  }

  /** Loads the HTTP client if a model needs it, so that the first call does not wait. */
  async preload(): Promise<void> {
    if (await hasRemoteModel(this.database)) this.#dependencies.providers.preload()
  }

  async resolve(reader: DatabaseReader, reference: string, field: string): Promise<string> {
    return resolveModelId(reader, reference, field)
  }

  /** Resolves the filter model_id of a list: it also matches the provider's name of a model and its name. */
  async resolveFilter({ model_id, ...query }: ListQuery): Promise<ListQuery> {
    if (typeof model_id !== 'string') return query
    const ids = await findModelIds(this.database, model_id, MAX_FILTERED_MODELS)
    return { ...query, model_id: ids.length > 1 ? ids : (ids[0] ?? model_id) }
  }

  /** Answers a question from passages, citing them as [1], [2] and so on. */
  async answer({ modelId, question, passages, isFiltered, countDocuments, ...options }: AnswerOptions): Promise<GeneratedText> {
    const model = await this.getChatModel(this.database, modelId)
    if (passages.length === 0)
      return { ...NO_CALL, text: isFiltered ? 'No document matches the filter.' : formatRefusal([], [], await countDocuments()) }
    const maxTokens = model.contextTokens * PASSAGE_SHARE - estimateTokens(question)
    const messages = [{ role: 'user' as const, content: question }]
    return this.generate({ modelId, messages, passages: fitPassages(passages, maxTokens), countDocuments, ...options })
  }

  /** Returns a chat model with the current settings; null is the default model. Does not contact the provider. */
  async getChatModel(reader: DatabaseReader, id: string | null): Promise<ChatModel> {
    const modelId = id ?? (await getDefaultModelId(reader))
    const model = await this.records.get(reader, modelId)
    if (!model) throw createNotFoundError('model', modelId)
    const { embedded, providers } = this.#dependencies
    if (model.provider === 'embedded') return new EmbeddedChatModel(model.id, model.name, embedded)
    if (model.provider === 'replay') return this.#createReplayModel(reader, model)
    return providers.getModel({
      ...this.#toRemoteModel(model),
      name: model.name,
      price: getPrice(model),
      canCallTools: model.supports_tools ?? true,
      canReadImages: resolveImageSupport(model),
      ...getContextWindow(model.provider, model.model_id, model.context_window),
    })
  }

  async #createReplayModel(
    reader: DatabaseReader,
    { id, name, model_id, recording, supports_tools, supports_images, context_window }: StoredModel,
  ): Promise<ChatModel> {
    const { database, meter } = this.#dependencies
    const source = (await this.exists(reader, model_id)) ? await this.getChatModel(reader, model_id) : undefined
    return createReplayChatModel({
      id,
      name,
      database,
      meter,
      pendingRequests: this.#pendingRecordings,
      canCallTools: supports_tools ?? source?.canCallTools ?? true,
      canReadImages: supports_images ?? source?.canReadImages ?? null,
      window: context_window === null && source ? source : getContextWindow('openai', '', context_window),
      source: recording === false ? undefined : source,
      unavailableReason: recording === false ? 'recording is off' : 'the recorded model does not exist anymore',
    })
  }

  /** Sends a short message to check that the model responds. */
  async test({ userId }: Caller, id: string, signal: AbortSignal): Promise<{ ok: boolean; text: string; latency_ms: number }> {
    if (!(await this.exists(this.database, id))) throw createNotFoundError('model', id)
    const messages = [{ role: 'user' as const, content: 'Say hello in one short sentence.' }]
    const { text, latencyMs } = await this.generate({ modelId: id, messages, origin: { user_id: userId }, signal })
    return { ok: true, text, latency_ms: latencyMs }
  }

  /** Generates a complete reply and records its usage. Callers must keep the request within the context window. */
  async generate({ modelId, origin, turn, ...request }: GenerationInput & { modelId: string | null }): Promise<GeneratedText> {
    return generateText(this.#dependencies, await this.getChatModel(this.database, modelId), request, { origin, turn })
  }

  /** Generates a reply whose usage the caller records. */
  async generateUnsettled(model: ChatModel, { origin, turn, ...request }: GenerationInput): Promise<UnsettledText> {
    return generateUnsettledText(this.#dependencies, model, request, { origin, turn })
  }

  /** Returns the model without its API key; null is the default model. */
  async findPublicModel(
    reader: DatabaseReader,
    id: string | null,
  ): Promise<Omit<StoredModel, 'api_key' | 'allow_private' | 'version'> | undefined> {
    const model = await this.records.get(reader, id ?? (await getDefaultModelId(reader)))
    if (!model) return undefined
    const { api_key: _, allow_private: __, version: ___, ...publicModel } = model
    return publicModel
  }

  /** Returns the price of a model. The embedded embedding model has no record and is free. */
  async getMeteredModel(reader: DatabaseReader, id: string): Promise<MeteredModel> {
    const model = await this.records.get(reader, id)
    return { id, price: model ? getPrice(model) : FREE }
  }

  /** Throws FORBIDDEN if a call of the model may cost money and the caller may not spend. Null is the default model. */
  async requireMaySpend(caller: Caller, id: string | null): Promise<void> {
    if (maySpend(caller.role) || (await this.#isFree(id ?? (await getDefaultModelId(this.database))))) return
    throw new CadreError('FORBIDDEN', 'A viewer may only call models that cost nothing.', {
      hint: 'Use a token with the role editor. If the model is free, an editor can set its price to 0.',
    })
  }

  /** A model without a record is embedded. A model without a price may cost money. */
  async #isFree(id: string): Promise<boolean> {
    const model = await this.records.get(this.database, id)
    if (!model || model.provider === 'embedded') return true
    if (model.provider === 'replay') return model.recording !== true || this.#isFree(model.model_id)
    return isFree(getPrice(model))
  }

  /** Returns the decrypted API key, so the result must never be part of a response. */
  async resolveCredentials(reader: DatabaseReader, id: string): Promise<RemoteModel | undefined> {
    const model = await this.records.get(reader, id)
    return model && this.#toRemoteModel(model)
  }

  #toRemoteModel({ id, provider, model_id, endpoint, api_key, allow_private }: StoredModel): RemoteModel {
    const key = api_key === null ? null : this.#dependencies.vault.open(api_key, `${id}/api_key`)
    // Default endpoints are trusted, including those on this machine.
    return { id, provider, model_id, endpoint, api_key: key, allow_private: endpoint === null || allow_private === 1 }
  }
}

function getPrice({ pricing }: StoredModel): Price | null {
  if (pricing === null) return null
  if ('input_per_million' in pricing) return { input: pricing.input_per_million / 1000, output: pricing.output_per_million / 1000 }
  return 'input' in pricing ? pricing : { input: pricing.input_per_1k, output: pricing.output_per_1k }
}
