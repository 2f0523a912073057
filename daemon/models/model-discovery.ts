/** Models that are there to be had: those of servers on this machine, and those that a key in the environment opens. Nothing is asked outside. */
import type { Dispatcher } from 'undici'
import type { PROVIDERS } from '../../src/contract/families/models.ts'
import { resolveEndpoint } from '../providers/endpoints.ts'

type Provider = (typeof PROVIDERS)[number]

/** Keys of the daemon's environment, by the names of their variables. */
type ProviderKeys = Readonly<Record<string, string>>

interface ModelServer {
  /** What people call the program. */
  name: string
  provider: 'ollama' | 'openai-compatible'
  /** Where its list of models is, without /models. */
  endpoint: string
}

export interface DiscoveryOptions {
  keys: ProviderKeys
  /** Addresses instead of the usual ones. */
  servers: readonly string[] | undefined
}

export interface AvailableModel {
  name: string
  provider: Provider
  model_id: string
  /** Null for the provider's usual address. */
  endpoint: string | null
  origin: string
}

/** The ports that these programs listen at unless they are told otherwise. */
const USUAL_SERVERS: readonly ModelServer[] = [
  { name: 'Ollama', provider: 'ollama', endpoint: 'http://127.0.0.1:11434/v1' },
  { name: 'LM Studio', provider: 'openai-compatible', endpoint: 'http://127.0.0.1:1234/v1' },
  { name: 'llama.cpp', provider: 'openai-compatible', endpoint: 'http://127.0.0.1:8080/v1' },
  { name: 'vLLM', provider: 'openai-compatible', endpoint: 'http://127.0.0.1:8000/v1' },
  { name: 'Jan', provider: 'openai-compatible', endpoint: 'http://127.0.0.1:1337/v1' },
  { name: 'GPT4All', provider: 'openai-compatible', endpoint: 'http://127.0.0.1:4891/v1' },
]

/** What a key opens: one model of the middle, to begin with; others can be named when it is added. */
const OPENED: Readonly<Record<string, Omit<AvailableModel, 'origin' | 'endpoint'>>> = {
  OPENAI_API_KEY: { name: 'GPT-5 mini (OpenAI)', provider: 'openai', model_id: 'gpt-5-mini' },
  ANTHROPIC_API_KEY: { name: 'Claude Sonnet 4.5 (Anthropic)', provider: 'anthropic', model_id: 'claude-sonnet-4-5' },
  GEMINI_API_KEY: { name: 'Gemini 2.5 Flash (Google)', provider: 'google', model_id: 'gemini-2.5-flash' },
  GOOGLE_GENERATIVE_AI_API_KEY: { name: 'Gemini 2.5 Flash (Google)', provider: 'google', model_id: 'gemini-2.5-flash' },
}

/** What runs on this machine answers at once or not at all. */
const PATIENCE_MS = 1_000
const MOST_BYTES = 1_000_000
const MOST_MODELS = 100
const LONGEST_NAME = 150

export class ModelDiscovery {
  readonly #keys: ProviderKeys
  readonly #servers: readonly ModelServer[]
  readonly #dispatcher: () => Promise<Dispatcher>

  constructor({ keys, servers }: DiscoveryOptions, dispatcher: () => Promise<Dispatcher>) {
    this.#keys = keys
    this.#servers = servers?.map(serverAt) ?? USUAL_SERVERS
    this.#dispatcher = dispatcher
  }

  /** Servers first, in the order they are known in; only those of one origin where it is given. */
  async list(origin?: string): Promise<AvailableModel[]> {
    const wanted = this.#servers.filter((server) => origin === undefined || originOf(server) === origin)
    const local = await Promise.all(wanted.map((server) => this.#modelsAt(server)))
    const variables = Object.keys(this.#keys).filter((variable) => origin === undefined || variable === origin)
    const opened = variables.flatMap((variable) => (OPENED[variable] ? [{ ...OPENED[variable], endpoint: null, origin: variable }] : []))
    return [...local.flat(), ...opened.filter(({ provider }, at) => opened.findIndex((other) => other.provider === provider) === at)]
  }

  findKey(origin: string): string | undefined {
    return Object.hasOwn(this.#keys, origin) ? this.#keys[origin] : undefined
  }

  async #modelsAt(server: ModelServer): Promise<AvailableModel[]> {
    const names = await this.#listed(server).catch(() => []) // nobody there, or somebody else
    // Ollama at its usual address needs none.
    const endpoint = server.provider === 'ollama' && server.endpoint === resolveEndpoint('ollama', null) ? null : server.endpoint
    return names.map((model_id) => ({
      name: `${model_id} (${server.name})`,
      provider: server.provider,
      model_id,
      endpoint,
      origin: originOf(server),
    }))
  }

  async #listed({ endpoint }: ModelServer): Promise<string[]> {
    const { origin, pathname } = new URL(endpoint)
    const dispatcher = await this.#dispatcher()
    const { statusCode, body } = await dispatcher.request({
      origin,
      path: `${pathname.replace(/\/+$/, '')}/models`,
      method: 'GET',
      headers: { accept: 'application/json' },
      signal: AbortSignal.timeout(PATIENCE_MS),
    })
    let text = ''
    for await (const part of body.setEncoding('utf8')) {
      text += part
      if (text.length > MOST_BYTES) return []
    }
    if (statusCode !== 200) return []
    const { data } = JSON.parse(text) as { data?: unknown }
    const names = Array.isArray(data) ? data.map((each: { id?: unknown } | null) => each?.id) : []
    return names
      .filter((name): name is string => typeof name === 'string' && name.length > 0 && name.length <= LONGEST_NAME)
      .slice(0, MOST_MODELS)
  }
}

const originOf = ({ endpoint }: ModelServer): string => new URL(endpoint).origin

function serverAt(address: string): ModelServer {
  const endpoint = resolveEndpoint('openai-compatible', address)
  return { name: new URL(endpoint).host, provider: 'openai-compatible', endpoint }
}
