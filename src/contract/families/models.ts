/** Models: which provider answers, under which name, at which price. */
import { Type } from 'typebox'
import { crud, type Family, idParams } from '../crud.ts'
import { route } from '../route.ts'
import { httpUrl, identifier, nullable, object, optional, resource, resourceName, stringEnum } from '../schemas/fields.ts'

export const PROVIDERS = ['openai', 'anthropic', 'google', 'openai-compatible', 'ollama', 'embedded', 'replay'] as const

/** The extractive answerer every installation has. */
export const EMBEDDED_MODEL_ID = 'model_00000000-0000-7000-8000-000000000001'

const price = (what: string) => Type.Number({ minimum: 0, maximum: 1_000_000, description: `Price of 1,000 ${what} tokens.` })
const Pricing = Type.Unsafe<{ input: number; output: number } | { input_per_1k: number; output_per_1k: number }>({
  description:
    'Price of 1,000 tokens, in and out, in any currency: input and output, or input_per_1k and output_per_1k; it comes back as it was given. Input that the provider had cached costs the same as other input.',
  anyOf: [
    object({ input: price('input'), output: price('output') }),
    object({ input_per_1k: price('input'), output_per_1k: price('output') }),
  ],
  examples: [{ input_per_1k: 0.5, output_per_1k: 1.5 }],
})

const needed = {
  name: resourceName('model'),
  provider: stringEnum(PROVIDERS, {
    description:
      'Who runs the model; openai-compatible is any server that speaks that protocol, replay plays back what another model answered.',
  }),
  model_id: Type.String({
    minLength: 1,
    maxLength: 200,
    pattern: '\\S',
    description: "The provider's own name for the model; for replay, the model here that is recorded.",
  }),
}
const settings = {
  endpoint: nullable(httpUrl("Address of the provider; needed for openai-compatible, otherwise the provider's usual one.")),
  pricing: nullable(Pricing),
  context_window: nullable(
    Type.Integer({
      minimum: 256,
      maximum: 100_000_000,
      description: 'Most tokens that it reads and writes in one call; null for what is usual for its name, and 8,192 for a local server.',
    }),
  ),
  supports_tools: nullable(
    Type.Boolean({
      description: 'Whether it calls tools; null to find out. One that does not is given passages of the documents instead.',
    }),
  ),
  recording: nullable(
    Type.Boolean({
      description: 'For replay: whether what was never recorded is asked of the model and recorded; false refuses it. Null for all others.',
    }),
  ),
}
const api_key = nullable(
  Type.String({
    minLength: 1,
    maxLength: 10_000,
    pattern: '^[\\x21-\\x7e]+$',
    writeOnly: true,
    description: 'Key for the provider. Write-only: it is kept in the vault and never comes back.',
  }),
)
const example = {
  name: 'Local Llama',
  provider: 'openai-compatible',
  model_id: 'llama3.2',
  endpoint: 'http://127.0.0.1:11434/v1',
  pricing: { input_per_1k: 0, output_per_1k: 0 },
}

export const Model = resource(
  'model',
  { ...needed, ...settings, has_api_key: Type.Boolean({ description: 'Whether a key is kept for it.' }) },
  {
    description: 'A language or embedding model.',
    examples: [
      {
        id: 'model_019a3c5e-7d2b-7c31-9a44-0c9f5d1e2b3a',
        ...example,
        context_window: null,
        supports_tools: null,
        recording: null,
        has_api_key: false,
        created_at: '2026-01-31T09:30:00.000Z',
        updated_at: '2026-01-31T09:30:00.000Z',
      },
    ],
  },
)
export const ModelCreate = object(
  { ...needed, ...optional({ ...settings, api_key }) },
  { description: 'A new model.', examples: [example] },
)
export const ModelUpdate = object(optional({ ...needed, ...settings, api_key }), {
  description: 'What to change of a model; a null api_key forgets the key.',
  minProperties: 1,
  examples: [{ name: 'Llama in the cellar' }],
})

const origin = Type.String({
  minLength: 1,
  maxLength: 2_000,
  description: 'Where it was found: a local address or the name of an environment variable.',
})
const DiscoveredModel = object({
  ...needed,
  endpoint: settings.endpoint,
  origin,
  added: nullable(identifier('the model, where it is here already')),
})
const AdoptModel = object(
  { origin, ...optional({ model_id: needed.model_id, name: needed.name }) },
  {
    description:
      'What to add of what was discovered: without model_id, the first of that origin. Of a provider with a key, any of its models can be named.',
    examples: [{ origin: 'ANTHROPIC_API_KEY', model_id: 'claude-sonnet-4-5' }],
  },
)

export const models = {
  name: 'models',
  noun: 'model',
  path: '/models',
  prefix: 'model',
  item: Model,
  resource: Model,
  create: ModelCreate,
  update: ModelUpdate,
} satisfies Family

export const modelRoutes = {
  ...crud(models, { read: 'read', change: 'change' }),
  discover: route({
    id: 'models.discover',
    family: 'models',
    method: 'GET',
    path: '/models/discover',
    summary: 'Look for local model servers and keys in the environment',
    description:
      "Asks servers at their usual ports of this machine, and looks for keys in the daemon's environment. Nothing leaves the machine, and no key is shown.",
    access: 'read',
    response: Type.Array(DiscoveredModel),
  }),
  adopt: route({
    id: 'models.adopt',
    family: 'models',
    method: 'POST',
    path: '/models/discover',
    summary: 'Add a model that was discovered',
    description: "A key goes from the daemon's environment into the vault, and nowhere else.",
    access: 'administer',
    body: AdoptModel,
    response: Model,
    status: 201,
  }),
  test: route({
    id: 'models.test',
    callsExternalService: true,
    family: 'models',
    method: 'POST',
    path: '/models/{id}/test',
    summary: 'Send a short message to a model',
    access: 'change',
    params: idParams('model'),
    response: object({
      ok: Type.Boolean({ description: 'Whether it answered.' }),
      text: Type.String({ description: 'What it said.' }),
      latency_ms: Type.Number({ minimum: 0, description: 'How long it took.' }),
    }),
  }),
}
