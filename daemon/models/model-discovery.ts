/** Finds models of servers on this machine and of providers whose API key is in the environment. Does not contact the providers. */
import type { Static } from 'typebox'
import type { Dispatcher } from 'undici'
import type { modelRoutes } from '../../src/contract/families/models.ts'
import { createDeadlineSignal, scaleTimeout } from '../../src/deadline.ts'
import { resolveEndpoint } from './providers/endpoints.ts'

/** API keys by environment variable. */
type ProviderKeys = Readonly<Record<string, string>>

interface ModelServer {
  name: string
  provider: 'ollama' | 'openai-compatible'
  endpoint: string
}

export interface DiscoveryOptions {
  keys: ProviderKeys
  /** Endpoints to use instead of the default servers. */
  servers: readonly string[] | undefined
}

/** The endpoint is null for the provider's default endpoint. */
export type AvailableModel = Omit<Static<typeof modelRoutes.discover.response>[number], 'added'>

/** Default ports of local model servers. */
const DEFAULT_SERVERS: readonly ModelServer[] = [
  { name: 'Ollama', provider: 'ollama', endpoint: 'http://127.0.0.1:11434/v1' },
  { name: 'LM Studio', provider: 'openai-compatible', endpoint: 'http://127.0.0.1:1234/v1' },
  { name: 'llama.cpp', provider: 'openai-compatible', endpoint: 'http://127.0.0.1:8080/v1' },
  { name: 'vLLM', provider: 'openai-compatible', endpoint: 'http://127.0.0.1:8000/v1' },
  { name: 'Jan', provider: 'openai-compatible', endpoint: 'http://127.0.0.1:1337/v1' },
  { name: 'GPT4All', provider: 'openai-compatible', endpoint: 'http://127.0.0.1:4891/v1' },
]

/** One mid-range model per provider; users can name others when they add it. */
const MODELS_BY_KEY: Readonly<Record<string, Omit<AvailableModel, 'origin' | 'endpoint'>>> = {
  OPENAI_API_KEY: { name: 'GPT-5 mini (OpenAI)', provider: 'openai', model_id: 'gpt-5-mini' },
  ANTHROPIC_API_KEY: { name: 'Claude Sonnet 4.5 (Anthropic)', provider: 'anthropic', model_id: 'claude-sonnet-4-5' },
  GEMINI_API_KEY: { name: 'Gemini 2.5 Flash (Google)', provider: 'google', model_id: 'gemini-2.5-flash' },
  GOOGLE_GENERATIVE_AI_API_KEY: { name: 'Gemini 2.5 Flash (Google)', provider: 'google', model_id: 'gemini-2.5-flash' },
}

const REQUEST_TIMEOUT_MS = 1_000
const MAX_RESPONSE_LENGTH = 1_000_000
const MAX_MODELS_PER_SERVER = 100
const MAX_MODEL_ID_LENGTH = 150

export class ModelDiscovery {
  readonly #keys: ProviderKeys
  readonly #servers: readonly ModelServer[]
  readonly #getDispatcher: () => Promise<Dispatcher>

  constructor({ keys, servers }: DiscoveryOptions, getDispatcher: () => Promise<Dispatcher>) {
    this.#keys = keys
    this.#servers = servers?.map(createServer) ?? DEFAULT_SERVERS
    this.#getDispatcher = getDispatcher
  }

  /** Lists the models of local servers, then those of API keys, optionally of one origin only. */
  async list(origin?: string): Promise<AvailableModel[]> {
    const servers = this.#servers.filter((server) => origin === undefined || getOrigin(server) === origin)
    const local = await Promise.all(servers.map((server) => this.#listServerModels(server)))
    const variables = Object.keys(this.#keys).filter((variable) => origin === undefined || variable === origin)
    const hosted = variables.flatMap((variable) =>
      MODELS_BY_KEY[variable] ? [{ ...MODELS_BY_KEY[variable], endpoint: null, origin: variable }] : [],
    )
    const isFirstOfProvider = ({ provider }: AvailableModel, index: number) =>
      hosted.findIndex((other) => other.provider === provider) === index
    return [...local.flat(), ...hosted.filter(isFirstOfProvider)]
  }

  findKey(origin: string): string | undefined {
    return Object.hasOwn(this.#keys, origin) ? this.#keys[origin] : undefined
  }

  async #listServerModels(server: ModelServer): Promise<AvailableModel[]> {
    const modelIds = await this.#fetchModelIds(server).catch(() => []) // no server, or not a model server
    const isDefault = server.provider === 'ollama' && server.endpoint === resolveEndpoint('ollama', null)
    return modelIds.map((model_id) => ({
      name: `${model_id} (${server.name})`,
      provider: server.provider,
      model_id,
      endpoint: isDefault ? null : server.endpoint,
      origin: getOrigin(server),
    }))
  }

  async #fetchModelIds({ endpoint }: ModelServer): Promise<string[]> {
    const { origin, pathname } = new URL(endpoint)
    const dispatcher = await this.#getDispatcher()
    const { statusCode, body } = await dispatcher.request({
      origin,
      path: `${pathname.replace(/\/+$/, '')}/models`,
      method: 'GET',
      headers: { accept: 'application/json' },
      signal: createDeadlineSignal(scaleTimeout(REQUEST_TIMEOUT_MS)),
    })
    let text = ''
    for await (const chunk of body.setEncoding('utf8')) {
      text += chunk
      if (text.length > MAX_RESPONSE_LENGTH) return []
    }
    if (statusCode !== 200) return []
    const { data } = JSON.parse(text) as { data?: unknown }
    const ids = Array.isArray(data) ? data.map((model: { id?: unknown } | null) => model?.id) : []
    const isUsable = (id: unknown): id is string => typeof id === 'string' && id.length > 0 && id.length <= MAX_MODEL_ID_LENGTH
    return [...new Set(ids.filter(isUsable))].slice(0, MAX_MODELS_PER_SERVER)
  }
}

/** The ways to write a model's name: for Ollama, the tag latest can be omitted. */
export function listModelNames(modelId: string): string[] {
  if (modelId.endsWith(':latest')) return [modelId, modelId.slice(0, -':latest'.length)]
  return modelId.includes(':') ? [modelId] : [modelId, `${modelId}:latest`]
}

const getOrigin = ({ endpoint }: ModelServer): string => new URL(endpoint).origin

function createServer(address: string): ModelServer {
  const endpoint = resolveEndpoint('openai-compatible', address)
  return { name: new URL(endpoint).host, provider: 'openai-compatible', endpoint }
}
