/** Models and their providers, keys and prices. */
import { type Static, Type } from 'typebox'
import { createAction, createBody, createCollectionAction, createCrudRoutes, createFamily, updateBody } from '../crud.ts'
import { route } from '../route.ts'
import {
  createExample,
  flag,
  httpUrl,
  identifier,
  integer,
  namedObject,
  nonBlankText,
  nonEmptyText,
  nullable,
  optional,
  resource,
  resourceName,
  stringEnum,
} from '../schemas/fields.ts'

const PROVIDERS = ['openai', 'anthropic', 'google', 'openai-compatible', 'ollama', 'embedded', 'replay'] as const

/** Providers whose public API needs a key. */
export const HOSTED_PROVIDERS: readonly string[] = ['openai', 'anthropic', 'google']

/** The extractive model that ships with Cadre. */
export const EMBEDDED_MODEL_ID = 'model_00000000-0000-7000-8000-000000000001'

const price = (kind: 'input' | 'output') => Type.Number({ minimum: 0, maximum: 1_000_000, description: `Price of 1,000 ${kind} tokens.` })
const pricePerMillion = (kind: 'input' | 'output') =>
  Type.Number({ minimum: 0, maximum: 1_000_000_000, description: `Price of a million ${kind} tokens.` })

export type Pricing =
  | { input_per_million: number; output_per_million: number }
  | { input: number; output: number }
  | { input_per_1k: number; output_per_1k: number }
const Pricing = Type.Unsafe<Pricing>({
  title: 'Pricing',
  description:
    'Price of a million tokens in any currency, as input_per_million and output_per_million. Also applies to cached input. ' +
    'Prices of 1,000 tokens are accepted too, as input_per_1k and output_per_1k or as input and output.',
  anyOf: [
    namedObject('TokenPricesPerMillion', 'Prices of a million tokens.', {
      input_per_million: pricePerMillion('input'),
      output_per_million: pricePerMillion('output'),
    }),
    namedObject('TokenPrices', 'Prices of 1,000 tokens.', { input: price('input'), output: price('output') }),
    namedObject('TokenPricesPer1k', 'Prices of 1,000 tokens, with the unit in their names.', {
      input_per_1k: price('input'),
      output_per_1k: price('output'),
    }),
  ],
  examples: [{ input_per_million: 0.15, output_per_million: 0.6 }],
})

const requiredFields = {
  name: resourceName('model'),
  provider: stringEnum(PROVIDERS, {
    description:
      'Provider of the model. openai-compatible: any server with the OpenAI protocol; replay: recorded responses of another model.',
  }),
  model_id: nonBlankText("The provider's name of the model; for replay, the identifier of the recorded model.", 200),
}
const optionalFields = {
  endpoint: nullable(httpUrl("Base URL of the provider. Required for openai-compatible. Default: the provider's public URL.")),
  pricing: nullable(Pricing),
  context_window: nullable(
    integer('Context window, in tokens. null derives it from the name of the model, or uses 8,192 for a local server.', {
      minimum: 256,
      maximum: 100_000_000,
    }),
  ),
  supports_tools: nullable(
    flag('Whether the model can call tools; null detects it. A model that cannot gets passages of the documents instead.'),
  ),
  supports_images: nullable(
    flag('Whether the model reads images; null derives it from the name of the model, or asks the server if that is unknown.'),
  ),
  recording: nullable(
    flag('For replay: whether to send unrecorded requests to the model and record them; false rejects them. null for other providers.'),
  ),
}
const api_key = nullable(
  Type.String({
    minLength: 1,
    maxLength: 10_000,
    pattern: '^[\\x21-\\x7e]+$',
    writeOnly: true,
    description: 'API key of the provider. Write-only: it is stored in the vault and never returned.',
  }),
)
const example = {
  name: 'Local Llama',
  provider: 'openai-compatible',
  model_id: 'llama3.2',
  endpoint: 'http://127.0.0.1:11434/v1',
  pricing: { input_per_million: 0, output_per_million: 0 },
}

const fields = { ...requiredFields, ...optionalFields, has_api_key: flag('Whether an API key is stored.') }
export type Model = Static<typeof Model>
export const Model = resource('model', fields, {
  description: 'A language or embedding model.',
  examples: [createExample('model', example, fields)],
})
const ModelCreate = createBody('model', requiredFields, { ...optionalFields, api_key }, example)
const ModelUpdate = updateBody(
  'model',
  { ...requiredFields, ...optionalFields, api_key },
  { name: 'Llama 3.2' },
  ' A null api_key deletes the stored key.',
)

const origin = nonEmptyText('Origin of the model: a local URL or the name of an environment variable.', 2_000)
const DiscoveredModel = namedObject('DiscoveredModel', 'A model that can be added.', {
  ...requiredFields,
  endpoint: optionalFields.endpoint,
  origin,
  added: nullable(identifier('the model, if it was already added')),
})
const AdoptModel = namedObject(
  'ModelAdoption',
  'A discovered model to add. Default of model_id: the first model of the origin. With an API key: any model of its provider.',
  { origin, ...optional({ model_id: requiredFields.model_id, name: requiredFields.name }) },
  [{ origin: 'ANTHROPIC_API_KEY', model_id: 'claude-sonnet-4-5' }],
)

export const models = createFamily({
  name: 'models',
  noun: 'model',
  prefix: 'model',
  resource: Model,
  create: ModelCreate,
  update: ModelUpdate,
})

export const modelRoutes = {
  ...createCrudRoutes(models, { read: 'read', change: 'write' }),
  discover: route({
    ...createCollectionAction(models, 'discover', 'GET'),
    summary: 'Discover models',
    description: "Finds local model servers and API keys in the daemon's environment. Sends nothing to other machines and returns no keys.",
    access: 'read',
    response: Type.Array(DiscoveredModel),
  }),
  adopt: route({
    ...createCollectionAction(models, 'discover'),
    id: 'models.adopt',
    summary: 'Add a discovered model',
    description: "Copies the API key from the daemon's environment to the vault.",
    access: 'admin',
    body: AdoptModel,
    response: Model,
    status: 201,
    createdPath: '/models',
  }),
  test: route({
    ...createAction(models, 'test'),
    callsModel: true,
    callsExternalService: true,
    summary: 'Test a model',
    description: 'Sends a short message to the model.',
    access: 'write',
    response: namedObject('ModelTestResult', 'Answer to the test of a model.', {
      ok: flag('Whether the model answered.'),
      text: Type.String({ description: 'Answer of the model.' }),
      latency_ms: Type.Number({ minimum: 0, description: 'Duration of the call, in milliseconds.' }),
    }),
  }),
}
