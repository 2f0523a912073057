/** Generates the OpenAPI 3.1 document from the contract. */
import type { TSchema } from 'typebox'
import { ERRORS, type ErrorCode } from './errors.ts'
import { ACCESS, MERGE_PATCH_TYPE, type Route } from './route.ts'
import { ALL_ROUTES, FAMILIES, ROUTE_GROUPS } from './routes.ts'
import { getFields } from './schemas/fields.ts'

type Json = Record<string, unknown>

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
      summary: 'AI agents for your own documents, on your own machine.',
      description:
        'All paths are also available under /api/v1. Lists are paged and can be filtered by any scalar field. Every error has a code.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: 'http://127.0.0.1:7411', description: 'The local daemon' }],
    security: [{ token: [] }],
    tags: ROUTE_GROUPS.map(({ tag, description }) => ({ name: tag, description })),
    paths,
    components: {
      securitySchemes: {
        token: {
          type: 'http',
          scheme: 'bearer',
          description: 'An access token. The first start of the daemon creates an admin token.',
        },
      },
      responses: createErrorResponses(paths),
      headers: HEADERS,
      schemas: {
        ...Object.fromEntries([...names].map(([schema, name]) => [name, toJsonSchema(schema, names, true)])),
        Error: ERROR,
        Pagination: PAGINATION,
      },
    },
  }
}

/** Resources and their inputs are named schemas; other schemas are inlined. */
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
  const open = route.access === 'public'
  return {
    operationId: route.id.replaceAll(/[.-](\w)/g, (_, letter: string) => letter.toUpperCase()),
    tags: [route.family],
    summary: route.summary,
    ...(route.description ? { description: route.description } : {}),
    ...(open ? { security: [] } : { 'x-roles': ACCESS[route.access] }),
    ...createParameters(route, names),
    ...createRequestBody(route, names),
    responses: {
      [String(route.status)]: createSuccessResponse(route, names),
      ...(canBeUnchanged(route) ? { '304': UNCHANGED } : {}),
      ...listErrorResponses(route),
      ...createUnhealthyResponse(route, names),
    },
  }
}

function createRequestBody(route: Route, names: Map<TSchema, string>): Json {
  if (!route.body) return {}
  const content = { schema: toJsonSchema(route.body, names) }
  const patch = route.method === 'PATCH' ? { [MERGE_PATCH_TYPE]: content } : {}
  return { requestBody: { required: true, content: { 'application/json': content, ...patch } } }
}

function createParameters(route: Route, names: Map<TSchema, string>): Json {
  const parameters = [...listParameters(route.params, 'path', names), ...listParameters(route.query, 'query', names)]
  if (route.method === 'POST')
    parameters.push(
      createHeaderParameter('Idempotency-Key', 'Repeated requests with the same key and body return the first response for 24 hours.'),
    )
  if (['PUT', 'PATCH', 'DELETE'].includes(route.method))
    parameters.push(
      createHeaderParameter('If-Match', 'ETag of the resource. The request fails with 412 if the resource was changed since.'),
    )
  if (canBeUnchanged(route))
    parameters.push(
      createHeaderParameter('If-None-Match', 'ETag of an earlier response. The response is 304 without a body if nothing changed since.'),
    )
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
    return { description: 'Server-sent events.', content: { 'text/event-stream': { schema: { type: 'string' } } } }
  const headers = [
    ...(route.access === 'public' ? [] : RATE_HEADERS),
    ...(route.shape === 'data' ? ['etag'] : []),
    ...(route.status === 201 ? ['location'] : []),
  ]
  return {
    description: route.status === 201 ? 'Created.' : 'Success.',
    ...(headers.length > 0 ? { headers: listHeaders(headers) } : {}),
    content: { 'application/json': { schema: wrapInEnvelope(route, names) } },
  }
}

const canBeUnchanged = ({ method, shape }: Route): boolean => method === 'GET' && shape === 'data'

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

/** A regular response with the status of an unhealthy daemon, or an error. */
function createUnhealthyResponse(route: Route, names: Map<TSchema, string>): Json {
  if (!route.unhealthyStatus) return {}
  const schema = { anyOf: [toJsonSchema(route.response, names), { $ref: '#/components/schemas/Error' }] }
  return {
    [String(route.unhealthyStatus)]: { description: 'The daemon is unhealthy or stopping.', content: { 'application/json': { schema } } },
  }
}

/** One response per error status of the routes, described by its error codes. */
function createErrorResponses(paths: Record<string, Json>): Json {
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods) as { responses: Json }[])
  const used = new Set(operations.flatMap(({ responses }) => Object.keys(responses)))
  const statuses = new Set(Object.values(ERRORS).filter((status) => used.has(String(status))))
  const listCodes = (status: number) => (Object.keys(ERRORS) as ErrorCode[]).filter((code) => ERRORS[code] === status)
  const content = { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } }
  return Object.fromEntries([...statuses].map((status) => [`Error${status}`, { description: listCodes(status).join(', '), content }]))
}

/** The error codes that a route can return. */
function listErrorCodes(route: Route): ErrorCode[] {
  const writes = route.method !== 'GET'
  const codes: ErrorCode[] = ['VALIDATION_ERROR', 'FORBIDDEN', 'INTERNAL', 'UNAVAILABLE']
  if (route.access !== 'public') codes.push('UNAUTHENTICATED', 'RATE_LIMITED')
  if (route.params) codes.push('NOT_FOUND')
  if (writes) codes.push('INVALID_JSON', 'CONFLICT', 'PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE', 'STORAGE_FULL')
  if (['PUT', 'PATCH', 'DELETE'].includes(route.method)) codes.push('PRECONDITION_FAILED')
  if (route.callsExternalService) codes.push('PROVIDER_ERROR', 'PROVIDER_TIMEOUT', 'BUDGET_EXCEEDED')
  return codes
}

/** Converts a schema to JSON, with references to named schemas. */
function toJsonSchema(schema: TSchema, names: Map<TSchema, string>, isDefinition = false): Json {
  const name = names.get(schema)
  if (name && !isDefinition) return { $ref: `#/components/schemas/${name}` }
  const convert = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(convert)
    if (value === null || typeof value !== 'object') return value
    const inner = value === schema ? undefined : names.get(value as TSchema)
    if (inner) return { $ref: `#/components/schemas/${inner}` }
    // OpenAPI allows discriminators only between named schemas.
    const parts = Object.entries(value).filter(([key]) => key !== 'discriminator')
    return Object.fromEntries(parts.map(([key, part]) => [key, convert(part)]))
  }
  return convert(schema) as Json
}

const ERROR: Json = {
  type: 'object',
  description: 'An error.',
  required: ['success', 'error', 'code'],
  properties: {
    success: { type: 'boolean', const: false },
    error: { type: 'string', description: 'Error message.' },
    code: { type: 'string', enum: Object.keys(ERRORS), description: 'Error code.' },
    details: {
      type: 'array',
      items: { type: 'object', required: ['field', 'problem'], properties: { field: { type: 'string' }, problem: { type: 'string' } } },
    },
    hint: { type: 'string', description: 'How to fix the error.' },
    request_id: { type: 'string', description: 'Identifier of the request, which is also in the log.' },
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
  description: 'Position in the list.',
  required: ['page', 'limit', 'total', 'pages'],
  properties: { page: { type: 'integer' }, limit: { type: 'integer' }, total: { type: 'integer' }, pages: { type: 'integer' } },
  examples: [{ page: 1, limit: 20, total: 131, pages: 7 }],
}

const HEADERS: Json = {
  location: { description: 'Path of the created resource.', schema: { type: 'string' } },
  etag: { description: 'Tag of this version of the resource, for If-Match and If-None-Match.', schema: { type: 'string' } },
  'x-ratelimit-limit': { description: 'Maximum number of requests per minute.', schema: { type: 'integer' } },
  'x-ratelimit-remaining': { description: 'Remaining requests in this minute.', schema: { type: 'integer' } },
  'x-ratelimit-reset': { description: 'Seconds until the limit is reset.', schema: { type: 'integer' } },
}
const RATE_HEADERS = Object.keys(HEADERS).filter((name) => name.startsWith('x-ratelimit'))

const listHeaders = (names: readonly string[]): Json =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))

const UNCHANGED: Json = { description: 'Not changed since the version of If-None-Match.', headers: listHeaders(['etag']) }
