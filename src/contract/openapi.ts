/** Generates the OpenAPI 3.1 document from the contract. */
import type { TSchema } from 'typebox'
import { ERRORS, type ErrorCode } from './errors.ts'
import { OpenaiError } from './openai/error-schema.ts'
import { getOpenaiStatus } from './openai/errors.ts'
import { type Json, OpenapiSchemas } from './openapi-schemas.ts'
import { ACCESS, checksVersion, type EventSchemas, getRoutePath, isBodyOptional, MERGE_PATCH_TYPE, type Route } from './route.ts'
import { ALL_ROUTES, ROUTE_GROUPS } from './routes.ts'
import { getFields } from './schemas/fields.ts'
import { Pagination } from './schemas/list-query.ts'

export function createOpenapiDocument(version: string): Json {
  const schemas = new OpenapiSchemas()
  const paths: Record<string, Json> = {}
  for (const route of ALL_ROUTES) {
    const path = getRoutePath(route)
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: createOperation(route, schemas) }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Cadre',
      version,
      summary: 'AI agents for your own documents, on your own machine.',
      description:
        'All paths under /api are also available under /api/v1. Lists are paged and can be filtered by any scalar field. Every error ' +
        'has a code. The paths under /v1 are those of OpenAI.',
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
      responses: {
        ...createErrorResponses(paths),
        OpenaiError: {
          description: "An error in OpenAI's format.",
          content: { 'application/json': { schema: schemas.convert(OpenaiError) } },
        },
      },
      headers: HEADERS,
      schemas: { ...schemas.listComponents(), Error: ERROR, ErrorDetail: ERROR_DETAIL },
    },
  }
}

function createOperation(route: Route, schemas: OpenapiSchemas): Json {
  const open = route.access === 'public'
  return {
    operationId: route.id.replaceAll(/[.-](\w)/g, (_, letter: string) => letter.toUpperCase()),
    tags: [route.family],
    summary: route.summary,
    ...(route.description ? { description: route.description } : {}),
    ...(open ? { security: [] } : { 'x-roles': ACCESS[route.access] }),
    ...createParameters(route, schemas),
    ...createRequestBody(route, schemas),
    responses: {
      [String(route.status)]: createSuccessResponse(route, schemas),
      ...(canBeUnchanged(route) ? { '304': UNCHANGED } : {}),
      ...listErrorResponses(route),
      ...createUnhealthyResponse(route, schemas),
    },
  }
}

function createRequestBody(route: Route, schemas: OpenapiSchemas): Json {
  if (!route.body) return {}
  const required = route.isBodyRequired === true || !isBodyOptional(route)
  const content = { schema: schemas.convert(route.body) }
  const patch = route.method === 'PATCH' ? { [MERGE_PATCH_TYPE]: content } : {}
  return { requestBody: { required, content: { 'application/json': content, ...patch } } }
}

function createParameters(route: Route, schemas: OpenapiSchemas): Json {
  const parameters = [...listParameters(route.params, 'path', schemas), ...listParameters(route.query, 'query', schemas)]
  if (route.storesConversation)
    parameters.push(createHeaderParameter('Cadre-Conversation', 'Identifier of the conversation in which the call is stored.'))
  if (route.method === 'POST' && route.protocol !== 'openai')
    parameters.push(
      createHeaderParameter('Idempotency-Key', 'Repeated requests with the same key and body return the first response for 24 hours.'),
    )
  if (checksVersion(route))
    parameters.push(
      createHeaderParameter('If-Match', 'ETag of the resource. The request fails with 412 if the resource was changed since.'),
    )
  if (canBeUnchanged(route))
    parameters.push(
      createHeaderParameter('If-None-Match', 'ETag of an earlier response. The response is 304 without a body if nothing changed since.'),
    )
  if (route.isResumable)
    parameters.push(
      createHeaderParameter('Last-Event-ID', 'id of the last event that was received. The stream continues with the events after it.'),
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

function listParameters(schema: TSchema | undefined, place: string, schemas: OpenapiSchemas): Json[] {
  if (!schema) return []
  const required = (schema as { required?: string[] }).required ?? []
  return Object.entries(getFields(schema)).map(([name, field]) => {
    const { description, ...rest } = schemas.convert(field)
    return { name, in: place, required: required.includes(name), ...(description ? { description } : {}), schema: rest }
  })
}

function createSuccessResponse(route: Route, schemas: OpenapiSchemas): Json {
  const events = route.events ? createEventContent(route.events, schemas) : {}
  if (route.shape === 'events') return { description: 'Server-sent events.', content: events }
  const headers = [
    ...(route.access === 'public' ? [] : RATE_HEADERS),
    ...(route.shape === 'data' ? ['etag'] : []),
    ...(route.status === 201 ? ['location'] : []),
  ]
  const type = route.shape === 'text' ? 'text/plain' : 'application/json'
  return {
    description: route.status === 201 ? 'Created.' : 'Success.',
    ...(headers.length > 0 ? { headers: listHeaders(headers) } : {}),
    content: { [type]: { schema: wrapInEnvelope(route, schemas) }, ...events },
  }
}

/** The schema is that of the data of any event; `x-events` has the schema of each event by its name, as a discriminator would. */
function createEventContent(events: EventSchemas, schemas: OpenapiSchemas): Json {
  const references = Object.entries(events).map(([name, schema]): [string, string] => [name, schemas.convert(schema).$ref as string])
  const anyOf = [...new Set(references.map(([, $ref]) => $ref))].map(($ref) => ({ $ref }))
  return { 'text/event-stream': { schema: { description: 'Data of an event.', anyOf }, 'x-events': Object.fromEntries(references) } }
}

const canBeUnchanged = ({ method, shape }: Route): boolean => method === 'GET' && shape === 'data'

function wrapInEnvelope(route: Route, schemas: OpenapiSchemas): Json {
  const data = schemas.convert(route.response)
  if (route.shape === 'bare' || route.shape === 'text') return data
  if (route.shape === 'message') return createEnvelope({ message: { type: 'string' } })
  if (route.shape === 'page') return createEnvelope({ data: { type: 'array', items: data }, pagination: schemas.convert(Pagination) })
  return createEnvelope({ data })
}

function createEnvelope(fields: Json): Json {
  const properties = { success: { type: 'boolean', const: true }, ...fields }
  return { type: 'object', required: Object.keys(properties), properties }
}

function listErrorResponses(route: Route): Json {
  const isOpenai = route.protocol === 'openai'
  const codes = listErrorCodes(route)
  const statuses = new Set(isOpenai ? [...codes.map(getOpenaiStatus), 404] : codes.map((code) => ERRORS[code]))
  const names = [...statuses].sort((a, b) => a - b).map((status) => [String(status), isOpenai ? 'OpenaiError' : `Error${status}`])
  return Object.fromEntries(names.map(([status, name]) => [status, { $ref: `#/components/responses/${name}` }]))
}

/** A regular response with the status of an unhealthy daemon, or an error. */
function createUnhealthyResponse(route: Route, schemas: OpenapiSchemas): Json {
  if (!route.unhealthyStatus) return {}
  const schema = { anyOf: [schemas.convert(route.response), { $ref: '#/components/schemas/Error' }] }
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
  if (checksVersion(route)) codes.push('PRECONDITION_FAILED')
  if (route.callsExternalService) codes.push('PROVIDER_ERROR', 'PROVIDER_TIMEOUT', 'BUDGET_EXCEEDED')
  return codes
}

const ERROR: Json = {
  type: 'object',
  description: 'An error.',
  required: ['success', 'error', 'code'],
  properties: {
    success: { type: 'boolean', const: false },
    error: { type: 'string', description: 'Error message.' },
    code: { type: 'string', enum: Object.keys(ERRORS), description: 'Error code.' },
    details: { type: 'array', items: { $ref: '#/components/schemas/ErrorDetail' }, description: 'Invalid fields.' },
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

const ERROR_DETAIL: Json = {
  type: 'object',
  description: 'A problem with a field of the request.',
  required: ['field', 'problem'],
  properties: {
    field: { type: 'string', description: 'Path of the field.' },
    problem: { type: 'string', description: 'What is wrong with it.' },
  },
  examples: [{ field: 'temperature', problem: 'must be <= 2' }],
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
