/** API tools: HTTP calls that agents may make. */
import { Type } from 'typebox'
import { crud, type Family, idParams } from '../crud.ts'
import { route } from '../route.ts'
import { basicAuth, bearerAuth, noAuth, secret } from '../schemas/auth.ts'
import { httpUrl, jsonObject, nullable, object, optional, resource, resourceName, stringEnum, text } from '../schemas/fields.ts'

const name = resourceName('API tool')
const description = text('What the call does; agents read this to decide when to use it.', 10_000)
const url = httpUrl('Address, with {placeholders} that arguments fill in.')

const DESTINATIONS = ['query', 'header', 'cookie', 'body', 'whole_body'] as const
const STYLES = ['repeat', 'comma', 'brackets', 'json'] as const
export interface ArgumentLocation {
  in: (typeof DESTINATIONS)[number]
  name?: string
  style?: (typeof STYLES)[number]
}
const locations = Type.Unsafe<Record<string, ArgumentLocation>>({
  type: 'object',
  maxProperties: 500,
  description:
    'Where an argument goes, if it is neither in the address nor goes where others do: to the query of GET and DELETE, else to the body.',
  additionalProperties: object({
    in: stringEnum(DESTINATIONS, { description: 'Part of the request; whole_body is the body itself instead of one of its fields.' }),
    name: Type.Optional(Type.String({ minLength: 1, maxLength: 200, description: 'Its name there; that of the argument when left out.' })),
    style: Type.Optional(
      stringEnum(STYLES, {
        default: 'repeat',
        description: 'How lists and objects are written in a query or form: a=1&a=2, a=1,2, a[b]=1 or as JSON.',
      }),
    ),
  }),
  examples: [{ trace: { in: 'header', name: 'X-Trace' } }],
})
const settings = {
  method: stringEnum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'], { default: 'GET', description: 'HTTP method.' }),
  parameters: jsonObject('JSON Schema of the arguments, of type object. Others are refused unless it says additionalProperties.', {
    examples: [{ type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }],
  }),
  locations,
  body_format: stringEnum(['json', 'form'], {
    default: 'json',
    description: 'How the body is written: as JSON, or as a form (application/x-www-form-urlencoded).',
  }),
  timeout_ms: Type.Integer({
    minimum: 100,
    maximum: 300_000,
    default: 30_000,
    description: 'Longest wait for an answer, in milliseconds.',
  }),
  allow_private_network: Type.Boolean({
    default: false,
    description: 'Whether it may reach addresses inside the private network. Admins only.',
  }),
  requires_confirmation: Type.Boolean({ default: false, description: 'Whether the caller is asked before each use.' }),
}
const HEADER_NAME = "^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,200}$"
const headers = Type.Unsafe<Record<string, string>>({
  type: 'object',
  maxProperties: 50,
  propertyNames: { pattern: HEADER_NAME },
  additionalProperties: { type: 'string', maxLength: 10_000, pattern: '^[^\\r\\n\\u0000]*$' },
  writeOnly: true,
  description: 'Headers sent along. Their values are write-only.',
})

const AUTH_TYPES = ['none', 'bearer', 'basic', 'api_key'] as const
type Auth =
  | { type: 'none' }
  | { type: 'bearer'; token: string }
  | { type: 'basic'; username: string; password: string }
  | { type: 'api_key'; name: string; value: string; in?: 'header' | 'query' }
const authName = Type.String({ pattern: HEADER_NAME, description: 'Name of the header or query parameter.' })
const authIn = stringEnum(['header', 'query'], { default: 'header', description: 'Where the key goes.' })
const auth = Type.Unsafe<Auth>({
  type: 'object',
  description: 'How it proves who it is. The values are write-only.',
  required: ['type'],
  discriminator: { propertyName: 'type' },
  oneOf: [
    noAuth,
    bearerAuth,
    basicAuth,
    object({ type: Type.Literal('api_key'), name: authName, value: secret('The key.'), in: Type.Optional(authIn) }),
  ],
  examples: [{ type: 'bearer', token: '<TOKEN>' }],
})
export type ApiToolSecrets = { headers: Record<string, string>; auth: Auth }

const example = {
  name: 'weather',
  description: 'Weather in a city',
  method: 'GET',
  url: 'https://api.example.com/weather/{city}',
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
}

export const ApiTool = resource(
  'API tool',
  {
    name,
    description,
    url,
    ...settings,
    header_names: Type.Array(Type.String(), { description: 'Names of the headers that are kept for it.' }),
    auth: object(
      { type: stringEnum(AUTH_TYPES, { description: 'How it proves who it is.' }), ...optional({ name: authName, in: authIn }) },
      { description: 'Authentication, without its values.' },
    ),
  },
  {
    description: 'An HTTP call that agents may make.',
    examples: [
      {
        id: 'api_019a3c5e-7d2b-7c31-9a44-0c9f5d1e2b3a',
        ...example,
        locations: {},
        body_format: 'json',
        timeout_ms: 30_000,
        allow_private_network: false,
        requires_confirmation: false,
        header_names: [],
        auth: { type: 'none' },
        created_at: '2026-01-31T09:30:00.000Z',
        updated_at: '2026-01-31T09:30:00.000Z',
      },
    ],
  },
)
const writable = { ...settings, headers, auth }
export const ApiToolCreate = object(
  { name, url, ...optional({ description, ...writable }) },
  { description: 'A new API tool.', examples: [example] },
)
export const ApiToolUpdate = object(optional({ name, description, url, ...writable }), {
  description: 'What to change of an API tool; headers replace all of the old ones.',
  minProperties: 1,
  examples: [{ timeout_ms: 5_000 }],
})

export const apiTools = {
  name: 'api-tools',
  noun: 'API tool',
  path: '/api-tools',
  prefix: 'api',
  item: ApiTool,
  resource: ApiTool,
  create: ApiToolCreate,
  update: ApiToolUpdate,
} satisfies Family

const credentials = Type.Unsafe<Record<string, string>>({
  type: 'object',
  maxProperties: 20,
  additionalProperties: secret('A token, a key, or user:password.'),
  writeOnly: true,
  description:
    'What the tools prove themselves with, by kind (bearer, basic, api_key) or by the name of a security scheme of the document.',
})
export const ApiToolImport = object(
  optional({
    document: Type.Unsafe<string | Record<string, unknown>>({
      anyOf: [{ type: 'string', minLength: 1 }, { type: 'object' }],
      description: 'The OpenAPI 3 document: its text, JSON or YAML, or the object itself.',
    }),
    url: httpUrl('Where the document is, instead of the document itself.'),
    only: Type.Array(Type.String({ minLength: 1, maxLength: 300 }), {
      minItems: 1,
      maxItems: 500,
      description: 'Which operations: operationId, tag:name, /path or METHOD /path, with * for anything. All when left out.',
    }),
    server: httpUrl('Base address to call, instead of the one in the document.'),
    server_variables: Type.Record(Type.String(), Type.String({ maxLength: 200 }), {
      description: "Values for the variables of the document's server.",
    }),
    prefix: Type.String({ maxLength: 50, pattern: '^[A-Za-z0-9_-]*$', description: 'Put before the name of each tool.' }),
    credentials,
    headers,
    timeout_ms: settings.timeout_ms,
    allow_private_network: settings.allow_private_network,
    requires_confirmation: Type.Boolean({
      description: 'Whether the caller is asked before each use; when left out, for every method but GET.',
    }),
    include_deprecated: Type.Boolean({ default: false, description: 'Operations and parameters that are deprecated, too.' }),
    update: Type.Boolean({ default: false, description: 'Bring tools of the same name and server up to date, instead of refusing.' }),
    dry_run: Type.Boolean({ default: false, description: 'Only say what would be done.' }),
  }),
  {
    description: 'An OpenAPI 3 document to make tools of.',
    examples: [{ url: 'https://api.example.com/openapi.json', only: ['tag:weather'], credentials: { bearer: '<TOKEN>' } }],
  },
)

const operation = Type.String({ description: 'Method and path in the document.' })
const imported = object({
  operation,
  action: stringEnum(['create', 'update', 'keep'], { description: 'What was, or would be, done; keep where nothing changed.' }),
  id: nullable(Type.String({ description: 'Identifier of the tool; null where it was not made.' })),
  name,
  description,
  method: settings.method,
  url,
  parameters: settings.parameters,
  locations,
  body_format: settings.body_format,
  requires_confirmation: settings.requires_confirmation,
  auth: stringEnum([...AUTH_TYPES, 'kept'], { description: 'How it proves who it is; kept where that stays as it was.' }),
  notes: Type.Array(Type.String(), { description: 'What to know about it.' }),
})
export const ApiToolImportResult = object(
  {
    title: Type.String({ description: 'What the document calls itself.' }),
    tools: Type.Array(imported, { description: 'One an operation.' }),
    skipped: Type.Array(object({ operation, reason: Type.String({ description: 'Why no tool was made of it.' }) }), {
      description: 'Operations without a tool.',
    }),
    security: Type.Array(
      object({
        scheme: Type.String({ description: 'Its name in the document.' }),
        kind: stringEnum(['bearer', 'basic', 'api_key', 'other'], { description: 'What it takes.' }),
        given: Type.Boolean({ description: 'Whether a credential for it was given.' }),
        tools: Type.Integer({ description: 'How many of the tools can use it.' }),
      }),
      { description: 'How the operations want to be proven who calls.' },
    ),
  },
  { description: 'What became of a document.' },
)

export const apiToolRoutes = {
  ...crud(apiTools, { read: 'read', change: 'change' }),
  import: route({
    id: 'api-tools.import',
    callsExternalService: true,
    family: 'api-tools',
    method: 'POST',
    path: '/api-tools/import',
    summary: 'Import from OpenAPI',
    description:
      'Makes a tool of each operation of an OpenAPI 3 document: all of them, or none where one cannot be stored. Operations that cannot be tools are named with the reason.',
    access: 'change',
    body: ApiToolImport,
    bodyLimit: 8 * 1024 * 1024,
    response: ApiToolImportResult,
  }),
  test: route({
    id: 'api-tools.test',
    callsExternalService: true,
    family: 'api-tools',
    method: 'POST',
    path: '/api-tools/{id}/test',
    summary: 'Make the call',
    access: 'change',
    params: idParams('API tool'),
    body: object({ arguments: Type.Optional(jsonObject('Arguments of the call.')) }, { examples: [{ arguments: { city: 'Lisbon' } }] }),
    response: object({
      status: Type.Integer({ description: 'HTTP status of the answer.' }),
      headers: Type.Record(Type.String(), Type.String(), { description: 'Headers of the answer.' }),
      body: nullable(Type.Unknown({ description: 'Body of the answer, parsed where it is JSON.' })),
      latency_ms: Type.Number({ minimum: 0, description: 'How long it took.' }),
    }),
  }),
}
