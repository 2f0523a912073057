/** API tools: HTTP calls that agents may make. */
import { Type } from 'typebox'
import { byId, crud, type Family } from './crud.ts'
import { route } from './route.ts'
import { freeObject, nullable, object, optional, resource, resourceName, text, webAddress, word } from './schema.ts'

const name = resourceName('API tool')
const description = text('What the call does; agents read this to decide when to use it.', 10_000)
const url = webAddress('Address, with {placeholders} that arguments fill in.')

const DESTINATIONS = ['query', 'header', 'cookie', 'body', 'whole_body'] as const
const STYLES = ['repeat', 'comma', 'brackets', 'json'] as const
export interface Destination {
  in: (typeof DESTINATIONS)[number]
  name?: string
  style?: (typeof STYLES)[number]
}
const locations = Type.Unsafe<Record<string, Destination>>({
  type: 'object',
  maxProperties: 500,
  description: 'Where an argument goes, if it is neither in the address nor goes where others do: to the query of GET and DELETE, else to the body.',
  additionalProperties: object({
    in: word(DESTINATIONS, { description: 'Part of the request; whole_body is the body itself instead of one of its fields.' }),
    name: Type.Optional(Type.String({ minLength: 1, maxLength: 200, description: 'Its name there; that of the argument when left out.' })),
    style: Type.Optional(
      word(STYLES, { default: 'repeat', description: 'How lists and objects are written in a query or form: a=1&a=2, a=1,2, a[b]=1 or as JSON.' }),
    ),
  }),
  examples: [{ trace: { in: 'header', name: 'X-Trace' } }],
})
const settings = {
  method: word(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'], { default: 'GET', description: 'HTTP method.' }),
  parameters: freeObject('JSON Schema of the arguments, of type object. Others are refused unless it says additionalProperties.', {
    examples: [{ type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }],
  }),
  locations,
  body_format: word(['json', 'form'], { default: 'json', description: 'How the body is written: as JSON, or as a form (application/x-www-form-urlencoded).' }),
  timeout_ms: Type.Integer({ minimum: 100, maximum: 300_000, default: 30_000, description: 'Longest wait for an answer, in milliseconds.' }),
  allow_private_network: Type.Boolean({ default: false, description: 'Whether it may reach addresses inside the private network. Admins only.' }),
  requires_confirmation: Type.Boolean({ default: false, description: 'Whether the caller is asked before each use.' }),
}
const HEADER_NAME = "^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,200}$"
const secret = (what: string) =>
  Type.String({ minLength: 1, maxLength: 10_000, pattern: '^[^\\r\\n\\u0000]*$', writeOnly: true, description: `${what} Write-only.` })
const headers = Type.Unsafe<Record<string, string>>({
  type: 'object',
  maxProperties: 50,
  propertyNames: { pattern: HEADER_NAME },
  additionalProperties: { type: 'string', maxLength: 10_000, pattern: '^[^\\r\\n\\u0000]*$' },
  writeOnly: true,
  description: 'Headers sent along. Their values are write-only.',
})

const authTypes = ['none', 'bearer', 'basic', 'api_key'] as const
type Auth =
  | { type: 'none' }
  | { type: 'bearer'; token: string }
  | { type: 'basic'; username: string; password: string }
  | { type: 'api_key'; name: string; value: string; in?: 'header' | 'query' }
const authName = Type.String({ pattern: HEADER_NAME, description: 'Name of the header or query parameter.' })
const authIn = word(['header', 'query'], { default: 'header', description: 'Where the key goes.' })
const auth = Type.Unsafe<Auth>({
  type: 'object',
  description: 'How it proves who it is. The values are write-only.',
  required: ['type'],
  discriminator: { propertyName: 'type' },
  oneOf: [
    object({ type: Type.Literal('none') }),
    object({ type: Type.Literal('bearer'), token: secret('The token.') }),
    object({ type: Type.Literal('basic'), username: secret('The user name.'), password: secret('The password.') }),
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
      { type: word(authTypes, { description: 'How it proves who it is.' }), ...optional({ name: authName, in: authIn }) },
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
export const ApiToolCreate = object({ name, url, ...optional({ description, ...writable }) }, { description: 'A new API tool.', examples: [example] })
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

export const apiToolRoutes = {
  ...crud(apiTools, { read: 'read', change: 'change' }),
  test: route({
    id: 'api-tools.test',
    reachesOut: true,
    family: 'api-tools',
    method: 'POST',
    path: '/api-tools/{id}/test',
    summary: 'Make the call',
    access: 'change',
    params: byId('API tool'),
    body: object({ arguments: Type.Optional(freeObject('Arguments of the call.')) }, { examples: [{ arguments: { city: 'Lisbon' } }] }),
    reply: object({
      status: Type.Integer({ description: 'HTTP status of the answer.' }),
      headers: Type.Record(Type.String(), Type.String(), { description: 'Headers of the answer.' }),
      body: nullable(Type.Unknown({ description: 'Body of the answer, parsed where it is JSON.' })),
      latency_ms: Type.Number({ minimum: 0, description: 'How long it took.' }),
    }),
  }),
}
