/** The OpenAPI 3.1 document, made from the contract and nothing else. */
import type { TSchema } from 'typebox'
import { ERRORS, type ErrorCode } from './errors.ts'
import { ACCESS, type Route } from './route.ts'
import { ALL_ROUTES, FAMILIES } from './routes.ts'
import { getFields } from './schemas/fields.ts'

type Json = Record<string, unknown>

const TAGS: Record<string, string> = {
  system: 'Health, status and settings of the service',
  agents: 'A model, what it is told, and the tools it may use',
  'prompt-templates': 'Texts with placeholders',
  'knowledge-sources': 'Where documents come from, and the documents themselves',
  'rag-tools': 'Questions answered from one knowledge source',
  'retrieval-tools': 'Passages found in knowledge sources',
  conversations: 'Conversations with agents and their messages',
  models: 'Language and embedding models',
  evaluations: 'Test cases and their results',
  usage: 'Tokens and cost',
  'usage-thresholds': 'Lines that usage should not cross',
  analytics: 'How conversations go',
  'api-tools': 'HTTP calls that agents may make',
  webhooks: 'Addresses that are told of events',
  tokens: 'Who may call the service',
  'as-code': 'The whole configuration at once',
}

export function createOpenapiDocument(version: string): Json {
  const names = getSchemaNames()
  const paths: Record<string, Json> = {}
  for (const route of ALL_ROUTES) {
    const path = `/api${route.path}`
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: createOperation(route, names) }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Cadre',
      version,
      summary: 'Conversational AI agents over your own documents, on your own machine.',
      description:
        'Every path also answers under /api/v1. Lists are paged; any scalar field of a resource filters its list by equality. Errors carry a code from a fixed set.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: 'http://127.0.0.1:7411', description: 'The local daemon' }],
    security: [{ token: [] }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      securitySchemes: {
        token: {
          type: 'http',
          scheme: 'bearer',
          description: 'An access token; the first one is made when the daemon starts for the first time.',
        },
      },
      responses: createErrorResponses(paths),
      headers: RATE_HEADERS,
      schemas: {
        ...Object.fromEntries([...names].map(([schema, name]) => [name, toJsonSchema(schema, names, true)])),
        Error: ERROR,
        Pagination: PAGINATION,
      },
    },
  }
}

/** Resources and their inputs are named; everything else is written where it is used. */
function getSchemaNames(): Map<TSchema, string> {
  const names = new Map<TSchema, string>()
  for (const { noun, resource, item, create, update } of FAMILIES) {
    const name = noun
      .split(' ')
      .map((word) => word[0]?.toUpperCase() + word.slice(1))
      .join('')
    names.set(resource, name)
    if (item !== resource) names.set(item, `${name}Item`)
    names.set(create, `${name}Create`).set(update, `${name}Update`)
  }
  return names
}

function createOperation(route: Route, names: Map<TSchema, string>): Json {
  const open = route.access === 'open'
  return {
    operationId: route.id.replaceAll(/[.-](\w)/g, (_, letter: string) => letter.toUpperCase()),
    tags: [route.family],
    summary: route.summary,
    ...(route.description ? { description: route.description } : {}),
    ...(open ? { security: [] } : { 'x-roles': ACCESS[route.access] }),
    ...createParameters(route, names),
    ...(route.body
      ? { requestBody: { required: true, content: { 'application/json': { schema: toJsonSchema(route.body, names) } } } }
      : {}),
    responses: {
      [String(route.status)]: createSuccessResponse(route, names),
      ...listErrorResponses(route),
      ...createUnhealthyResponse(route, names),
    },
  }
}

function createParameters(route: Route, names: Map<TSchema, string>): Json {
  const parameters = [...listParameters(route.params, 'path', names), ...listParameters(route.query, 'query', names)]
  if (route.method === 'POST')
    parameters.push(createHeaderParameter('Idempotency-Key', 'The same key and body get the same answer and one effect, for 24 hours.'))
  if (['PUT', 'PATCH', 'DELETE'].includes(route.method))
    parameters.push(createHeaderParameter('If-Match', 'The ETag you last saw; if the resource changed since, the answer is 409.'))
  return parameters.length > 0 ? { parameters } : {}
}

const createHeaderParameter = (name: string, description: string): Json => ({
  name,
  in: 'header',
  required: false,
  description,
  schema: { type: 'string' },
})

function listParameters(schema: TSchema | undefined, place: string, names: Map<TSchema, string>): Json[] {
  if (!schema) return []
  const required = (schema as { required?: string[] }).required ?? []
  return Object.entries(getFields(schema)).map(([name, field]) => {
    const { description, ...rest } = toJsonSchema(field, names)
    return { name, in: place, required: required.includes(name), ...(description ? { description } : {}), schema: rest }
  })
}

function createSuccessResponse(route: Route, names: Map<TSchema, string>): Json {
  if (route.shape === 'events')
    return { description: 'Server-Sent Events.', content: { 'text/event-stream': { schema: { type: 'string' } } } }
  const rateHeaders =
    route.access === 'open'
      ? {}
      : { headers: Object.fromEntries(Object.keys(RATE_HEADERS).map((name) => [name, { $ref: `#/components/headers/${name}` }])) }
  return {
    description: route.status === 201 ? 'Created.' : 'Done.',
    ...rateHeaders,
    content: { 'application/json': { schema: wrapInEnvelope(route, names) } },
  }
}

function wrapInEnvelope(route: Route, names: Map<TSchema, string>): Json {
  const data = toJsonSchema(route.response, names)
  const success = { type: 'boolean', const: true }
  if (route.shape === 'bare') return data
  if (route.shape === 'message')
    return { type: 'object', required: ['success', 'message'], properties: { success, message: { type: 'string' } } }
  if (route.shape === 'page')
    return {
      type: 'object',
      required: ['success', 'data', 'pagination'],
      properties: { success, data: { type: 'array', items: data }, pagination: { $ref: '#/components/schemas/Pagination' } },
    }
  return { type: 'object', required: ['success', 'data'], properties: { success, data } }
}

function listErrorResponses(route: Route): Json {
  const statuses = new Set(listErrorCodes(route).map((code) => ERRORS[code]))
  return Object.fromEntries(
    [...statuses].sort((a, b) => a - b).map((status) => [String(status), { $ref: `#/components/responses/Error${status}` }]),
  )
}

/** The same reply as when all is well, or an error. */
function createUnhealthyResponse(route: Route, names: Map<TSchema, string>): Json {
  if (!route.unhealthyStatus) return {}
  const schema = { anyOf: [toJsonSchema(route.response, names), { $ref: '#/components/schemas/Error' }] }
  return { [String(route.unhealthyStatus)]: { description: 'Not well, or stopping.', content: { 'application/json': { schema } } } }
}

/** One answer a status that some route can give, which says the codes it can carry. */
function createErrorResponses(paths: Record<string, Json>): Json {
  const answers = Object.values(paths).flatMap((methods) => Object.values(methods) as { responses: Json }[])
  const given = new Set(answers.flatMap(({ responses }) => Object.keys(responses)))
  const statuses = new Set(Object.values(ERRORS).filter((status) => given.has(String(status))))
  const codesFor = (status: number) => Object.entries(ERRORS).filter(([, of]) => of === status)
  const answer = (status: number): Json => ({
    description: codesFor(status)
      .map(([code]) => code)
      .join(', '),
    content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
  })
  return Object.fromEntries([...statuses].map((status) => [`Error${status}`, answer(status)]))
}

/** What a route can answer besides success. */
function listErrorCodes(route: Route): ErrorCode[] {
  const writes = route.method !== 'GET'
  const codes: ErrorCode[] = ['VALIDATION_ERROR', 'FORBIDDEN', 'INTERNAL', 'UNAVAILABLE']
  if (route.access !== 'open') codes.push('UNAUTHENTICATED', 'RATE_LIMITED')
  if (route.params) codes.push('NOT_FOUND')
  if (writes) codes.push('INVALID_JSON', 'CONFLICT', 'PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE', 'STORAGE_FULL')
  if (route.callsExternalService) codes.push('PROVIDER_ERROR', 'PROVIDER_TIMEOUT', 'BUDGET_EXCEEDED')
  return codes
}

/** A schema as plain JSON, with the named ones inside it referred to by name. */
function toJsonSchema(schema: TSchema, names: Map<TSchema, string>, spelled = false): Json {
  const name = names.get(schema)
  if (name && !spelled) return { $ref: `#/components/schemas/${name}` }
  const seen = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(seen)
    if (value === null || typeof value !== 'object') return value
    const inner = value === schema ? undefined : names.get(value as TSchema)
    if (inner) return { $ref: `#/components/schemas/${inner}` }
    // OpenAPI lets a discriminator choose only among named schemas; the constants inside tell these apart as well.
    const parts = Object.entries(value).filter(([key]) => key !== 'discriminator')
    return Object.fromEntries(parts.map(([key, part]) => [key, seen(part)]))
  }
  return seen(schema) as Json
}

const ERROR: Json = {
  type: 'object',
  description: 'What went wrong, and where known how to mend it.',
  required: ['success', 'error', 'code'],
  properties: {
    success: { type: 'boolean', const: false },
    error: { type: 'string', description: 'What went wrong.' },
    code: { type: 'string', enum: Object.keys(ERRORS), description: 'The same, for programs.' },
    details: {
      type: 'array',
      items: { type: 'object', required: ['field', 'problem'], properties: { field: { type: 'string' }, problem: { type: 'string' } } },
    },
    hint: { type: 'string', description: 'How to mend it.' },
    request_id: { type: 'string', description: 'Finds the request in the log.' },
  },
  examples: [
    {
      success: false,
      error: 'temperature: must be <= 2.',
      code: 'VALIDATION_ERROR',
      details: [{ field: 'temperature', problem: 'must be <= 2' }],
      request_id: 'req_2f1c',
    },
  ],
}

const PAGINATION: Json = {
  type: 'object',
  description: 'Where in the list this page is.',
  required: ['page', 'limit', 'total', 'pages'],
  properties: { page: { type: 'integer' }, limit: { type: 'integer' }, total: { type: 'integer' }, pages: { type: 'integer' } },
  examples: [{ page: 1, limit: 20, total: 131, pages: 7 }],
}

const RATE_HEADERS: Json = {
  'x-ratelimit-limit': { description: 'Requests a minute.', schema: { type: 'integer' } },
  'x-ratelimit-remaining': { description: 'Requests left in this minute.', schema: { type: 'integer' } },
  'x-ratelimit-reset': { description: 'Seconds until it starts again.', schema: { type: 'integer' } },
}
