/** Checks responses against the OpenAPI document: status, envelope, fields and error codes. */
import * as assert from 'node:assert/strict'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { ERRORS, type ErrorCode } from '../../src/contract/errors.ts'
import { createOpenapiDocument } from '../../src/contract/openapi.ts'
import { getRoutePath, type Route, TEXT_TYPE } from '../../src/contract/route.ts'
import { ALL_ROUTES } from '../../src/contract/routes.ts'
import type { ServerEvent } from '../../src/sse.ts'
import { version } from '../../src/version.ts'

interface ObservedResponse {
  method: string
  url: string
  status: number
  headers: Record<string, unknown>
  text: string
}

interface Operation {
  responses: Record<string, { content: Record<string, { 'x-events': Record<string, string> }> }>
}

const ERROR_FIELDS = ['success', 'error', 'code', 'details', 'hint', 'request_id']
const ENVELOPES: Record<string, readonly string[]> = {
  data: ['success', 'data', 'message'],
  page: ['success', 'data', 'pagination'],
  message: ['success', 'message'],
}

export const document = createOpenapiDocument(version) as { paths: Record<string, Record<string, Operation>> }

// The document itself is checked by the tests of the contract; loading the meta-schema would take 0.1 s in every test file.
const ajv = new Ajv2020({ strict: false, allErrors: false, meta: false, validateSchema: false, code: { optimize: false } })
addFormats.default(ajv)
ajv.addFormat('iso-date', true)
ajv.addFormat('currency', /^[A-Z]{3}$/)
ajv.addSchema(document, 'openapi')
const validators = new Map<string, ValidateFunction>()

/** Returns a validator for the schema at a path of the document. */
function getValidator(...path: string[]): ValidateFunction {
  const pointer = path.map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/')
  const validator = validators.get(pointer) ?? ajv.compile({ $ref: `openapi#/${pointer}` })
  validators.set(pointer, validator)
  return validator
}

const patterns = ALL_ROUTES.map((route) => ({
  route,
  pattern: new RegExp(`^${route.path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}/?$`),
  fixed: !route.path.includes('{'),
}))
  // Paths without placeholders take precedence.
  .sort((a, b) => Number(b.fixed) - Number(a.fixed))

const isOpenaiUrl = (url: string): boolean => url.startsWith('/v1/')

function findRoute(method: string, url: string): Route | undefined {
  const [path = ''] = url.split(/[?#]/)
  const isOpenai = isOpenaiUrl(url)
  const relative = isOpenai ? path : path.replace(/^\/api(\/v1)?(?=\/)/, '')
  const matching = patterns.filter(({ route, pattern }) => (route.protocol === 'openai') === isOpenai && pattern.test(relative))
  return matching.find(({ route, fixed }) => route.method === method && fixed === matching[0]?.fixed)?.route
}

/** Throws if the response does not match the document. */
export function checkResponse(response: ObservedResponse): void {
  const { method, url, status, headers, text } = response
  const summary = `${method} ${url.slice(0, 200)} returned ${status}: ${text.slice(0, 600)}`
  if (!url.startsWith('/api/') && !isOpenaiUrl(url)) return
  assert.match(String(headers['x-request-id']), /^req_[0-9a-f-]{36}$/, `missing request ID: ${summary}`)
  if (method === 'HEAD' || method === 'OPTIONS') return
  const route = findRoute(method, url)
  const isStream = String(headers['content-type']).startsWith('text/event-stream')
  if (status === 200 && (route?.shape === 'events' || (route?.events && isStream))) {
    assert.equal(headers['content-type'], 'text/event-stream; charset=utf-8', summary)
    return
  }
  if (route && status === 304) {
    assert.ok(document.paths[getRoutePath(route)]?.[method.toLowerCase()]?.responses['304'], `undocumented status: ${summary}`)
    assert.equal(text, '', summary)
    return
  }
  if (status === 200 && route?.shape === 'text') {
    assert.equal(headers['content-type'], TEXT_TYPE, summary)
    return
  }
  assert.equal(headers['content-type'], 'application/json; charset=utf-8', summary)
  const body = JSON.parse(text) as Record<string, unknown>
  const isUnhealthy = status === route?.unhealthyStatus && body.success === undefined
  if (isOpenaiUrl(url) && status >= 400) checkOpenaiError(body, summary)
  else if (status >= 400 && !isUnhealthy) checkError(body, status, String(headers['x-request-id']), summary)
  if (!route) assert.ok([400, 401, 403, 404, 405, 413, 415, 429, 503].includes(status), `unknown route: ${summary}`)
  if (!route) return
  const path = getRoutePath(route)
  const operation = document.paths[path]?.[method.toLowerCase()]
  assert.ok(operation?.responses[status], `undocumented status: ${summary}`)
  if (status >= 400 && !isUnhealthy) return
  if (!isUnhealthy) assert.equal(status, route.status, summary)
  const valid = getValidator('paths', path, method.toLowerCase(), 'responses', String(status), 'content', 'application/json', 'schema')
  assert.ok(valid(body), `${ajv.errorsText(valid.errors)}: ${summary}`)
  const fields = ENVELOPES[route.shape]
  if (fields)
    assert.deepEqual(
      Object.keys(body).filter((field) => !fields.includes(field)),
      [],
      summary,
    )
}

/** Throws if an event of a stream does not match the document. */
export function checkEvent(method: string, url: string, { event, data }: ServerEvent): void {
  const summary = `${event} of ${method} ${url.slice(0, 200)}: ${data.slice(0, 600)}`
  // HEAD answers like GET; the body is not sent.
  const route = findRoute(method === 'HEAD' ? 'GET' : method, url)
  const path = route ? getRoutePath(route) : ''
  if (route?.protocol === 'openai' && data === '[DONE]') return
  const reference =
    document.paths[path]?.[route?.method.toLowerCase() ?? '']?.responses['200']?.content['text/event-stream']?.['x-events'][event]
  assert.ok(reference, `undocumented event: ${summary}`)
  const valid = getValidator(...reference.split('/').slice(1))
  assert.ok(valid(JSON.parse(data)), `${ajv.errorsText(valid.errors)}: ${summary}`)
}

function checkOpenaiError(body: Record<string, unknown>, summary: string): void {
  const valid = getValidator('components', 'schemas', 'OpenaiError')
  assert.ok(valid(body), `${ajv.errorsText(valid.errors)}: ${summary}`)
}

function checkError(body: Record<string, unknown>, status: number, requestId: string, summary: string): void {
  assert.equal(body.success, false, summary)
  assert.ok(typeof body.error === 'string' && body.error.length > 0, summary)
  assert.equal(ERRORS[body.code as ErrorCode], status, `error code does not match the status: ${summary}`)
  assert.equal(body.request_id, requestId, summary)
  assert.deepEqual(
    Object.keys(body).filter((field) => !ERROR_FIELDS.includes(field)),
    [],
    summary,
  )
  const valid = getValidator('components', 'schemas', 'Error')
  assert.ok(valid(body), `${ajv.errorsText(valid.errors)}: ${summary}`)
}
