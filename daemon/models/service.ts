/** Models: where they are reached, the keys that are kept for them, and how they are asked. */
import type { Static } from 'typebox'
import { CadreError, invalid, notFound } from '../../src/contract/errors.ts'
import { EMBEDDED_MODEL_ID, type ModelCreate, type ModelUpdate, models } from '../../src/contract/models.ts'
import { adminsOnly } from '../caller.ts'
import { Resource, type Situation } from '../crud/service.ts'
import type { Embedder } from '../embedding/embedder.ts'
import type { RemoteModel } from '../embedding/service.ts'
import type { CallOrigin, Meter } from '../metering.ts'
import { plainAddress } from '../outbound/address.ts'
import { leadsInside } from '../outbound/reach.ts'
import type { Vault } from '../secrets/vault.ts'
import type { Database, Reader } from '../store/database.ts'
import type { ChatModel, ChatRequest, Price } from './chat.ts'
import { EmbeddedModel } from './embedded.ts'
import { type QuotedPassage, quoteAnswer } from './extractive.ts'
import { type Generated, generate } from './generation.ts'
import type { Providers } from './providers.ts'
import { defaultModelId, modelRecords, type StoredModel } from './store.ts'
import { usualWindow } from './windows.ts'

type ModelInput = Static<typeof ModelCreate> | Static<typeof ModelUpdate>

export interface ModelParts {
  database: Database
  vault: Vault
  providers: Providers
  /** The embedded embedding model, which the embedded chat model quotes by. */
  embedder(): Promise<Embedder>
  meter: Meter
}

export interface Generation extends ChatRequest {
  /** Null for the default model. */
  modelId: string | null
  origin: CallOrigin
}

export class ModelsService extends Resource<StoredModel, ModelInput> {
  readonly #parts: ModelParts

  constructor(parts: ModelParts) {
    const { database, vault, providers } = parts
    super(database, models, modelRecords, {
      prepare: async (record, given, situation) => prepared(vault, record, given, situation),
      remove: async (_, { id }) => {
        if (id === EMBEDDED_MODEL_ID) throw builtIn()
        providers.forget(id)
      },
    })
    this.#parts = parts
  }

  /** The id of a model named by its id, or by its provider's name for it where only one model has that. */
  async resolve(reader: Reader, named: string, field: string): Promise<string> {
    if (await this.exists(reader, named)) return named
    const found = await this.records.find(reader, { model_id: named }, 2)
    if (found.length > 1) throw invalid(field, `more than one model is called "${named}"`, `Name it by its id: ${found.map(({ id }) => id).join(' or ')}.`)
    if (!found[0]) throw invalid(field, `there is no model "${named}"`, 'GET /api/models (cadre models list) shows the models there are.')
    return found[0].id
  }

  /** An answer to a question from passages that were found for it, citing them as [1], [2] and so on: by the embedded model, which quotes. */
  async answer(question: string, passages: readonly QuotedPassage[]): Promise<string> {
    return quoteAnswer(await this.#parts.embedder(), question, passages)
  }

  /** A model to talk to, as it is recorded now; null is the default one. Nothing is called yet. */
  async chat(reader: Reader, id: string | null): Promise<ChatModel> {
    const wanted = id ?? (await defaultModelId(reader))
    const found = await this.records.get(reader, wanted)
    if (!found) throw notFound('model', wanted)
    const { embedder, providers } = this.#parts
    if (found.provider === 'embedded') return new EmbeddedModel(found.id, found.name, embedder)
    return providers.model({
      ...this.#opened(found),
      name: found.name,
      price: priceOf(found),
      callsTools: true,
      contextTokens: usualWindow(found.provider, found.model_id),
      allowPrivateNetwork: true,
    })
  }

  /** A whole reply, metered. The request's messages may be as long as they like: whoever asks trims. */
  async generate({ modelId, origin, ...request }: Generation): Promise<Generated> {
    const { database, meter } = this.#parts
    return generate(database, meter, await this.chat(database, modelId), request, origin)
  }

  /** What is needed to call a model, its key opened: for whoever calls it, never for an answer. */
  async credentials(reader: Reader, id: string): Promise<RemoteModel | undefined> {
    const found = await this.records.get(reader, id)
    return found && this.#opened(found)
  }

  #opened({ id, provider, model_id, endpoint, api_key }: StoredModel): RemoteModel {
    return { id, provider, model_id, endpoint, api_key: api_key === null ? null : this.#parts.vault.open(api_key, `${id}/api_key`) }
  }
}

function priceOf({ pricing }: StoredModel): Price | null {
  if (pricing === null) return null
  return 'input' in pricing ? pricing : { input: pricing.input_per_1k, output: pricing.output_per_1k }
}

async function prepared(vault: Vault, record: StoredModel, given: ModelInput, { caller, current }: Situation<StoredModel>): Promise<StoredModel> {
  if (current?.id === EMBEDDED_MODEL_ID) throw builtIn()
  if (record.provider === 'embedded') throw invalid('provider', 'the embedded model is there already', `Use its id: ${EMBEDDED_MODEL_ID}.`)
  if (record.provider === 'openai-compatible' && record.endpoint === null) throw invalid('endpoint', 'is required for the provider openai-compatible')
  if (record.endpoint !== null) {
    const { hostname } = plainAddress('endpoint', record.endpoint)
    if (given.endpoint && leadsInside(hostname)) adminsOnly(caller, 'point a model at this machine or its private network')
  }
  if (given.api_key !== undefined) adminsOnly(caller, 'set or forget the key of a model')
  const redirected = current !== undefined && (current.endpoint !== record.endpoint || current.provider !== record.provider)
  if (redirected && current.has_api_key && given.api_key === undefined) adminsOnly(caller, 'change where a model with a key sends it')
  if (given.api_key === undefined) return { ...record, api_key: current?.api_key ?? null, has_api_key: current?.has_api_key ?? false }
  const sealed = given.api_key === null ? null : vault.seal(given.api_key, `${record.id}/api_key`)
  return { ...record, api_key: sealed, has_api_key: sealed !== null }
}

const builtIn = () =>
  new CadreError('CONFLICT', 'The embedded model is part of Cadre and cannot be changed or deleted.', {
    hint: 'Add a model of your own and make it the default.',
  })
