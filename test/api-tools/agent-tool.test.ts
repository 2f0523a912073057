import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { createAgentTool } from '../../daemon/api-tools/create-agent-tool.ts'
import { createApiCaller } from '../../daemon/api-tools/create-api-caller.ts'
import type { StoredApiTool } from '../../daemon/api-tools/store.ts'
import type { ToolContext } from '../../daemon/core/tool.ts'
import { createOutbound } from '../../daemon/outbound/client.ts'
import { createValidator } from '../../daemon/validation/validator.ts'
import { type RecordingServer, startRecordingServer } from '../outbound/recording-server.ts'

const test = suite<{ server: RecordingServer }>('API tools of an agent')
const outbound = createOutbound()
const vault = { location: 'file', seal: (plain: string) => plain, open: (sealed: string) => sealed } as const
const callApi = createApiCaller({ vault, validator: createValidator(), outbound })
const createToolUse = (signal: AbortSignal = new AbortController().signal): ToolContext => ({
  caller: { tokenId: 't', role: 'member', userId: 'ada' },
  origin: {},
  signal,
})

test.before.each(async (context) => {
  context.server = await startRecordingServer()
})
test.after.each(async ({ server }) => server.close())
test.after(() => outbound.close())

const record = (server: RecordingServer, fields: Partial<StoredApiTool> = {}): StoredApiTool => ({
  id: 'api_1',
  name: 'weather',
  description: 'Weather in a city',
  method: 'GET',
  url: `${server.origin}/weather/{city}`,
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  locations: {},
  body_format: 'json',
  timeout_ms: 300_000,
  allow_private_network: true,
  requires_confirmation: true,
  expose_mcp: false,
  header_names: [],
  auth: { type: 'none' },
  secrets: null,
  version: 1,
  created_at: '',
  updated_at: '',
  ...fields,
})
const createTool = (stored: StoredApiTool) => createAgentTool(stored, (args, signal) => callApi(stored, args, { signal }))
const respondWith = (server: RecordingServer, body: string, type = 'application/json') => {
  server.listener = (_, reply) => reply.writeHead(200, { 'content-type': type }).end(body)
}

test('an API tool exposes its definition and returns status and body', async ({ server }) => {
  respondWith(server, '{"degrees":21}')
  const { run, describeRequest, ...tool } = createTool(record(server))
  assert.equal(tool, {
    id: 'api_1',
    name: 'weather',
    description: 'Weather in a city',
    parameters: record(server).parameters,
    requiresConfirmation: true,
  })
  assert.equal(await run({ city: 'Lisbon' }, createToolUse()), { kind: 'value', value: { status: 200, body: { degrees: 21 } } })
  assert.is(server.requests[0]?.url, '/weather/Lisbon')
  assert.match(createTool(record(server, { description: '' })).description, 'Calls GET http')
})

test('a call is described with method and URL, without credentials and with the placeholders of missing arguments', async ({ server }) => {
  const tool = createTool(record(server, { auth: { type: 'api_key', name: 'key', in: 'query' }, secrets: 'x', method: 'DELETE' }))
  assert.equal(tool.describeRequest?.({ city: 'New York', days: 2 }), {
    method: 'DELETE',
    url: `${server.origin}/weather/New%20York?days=2`,
  })
  assert.equal(tool.describeRequest?.({}), { method: 'DELETE', url: `${server.origin}/weather/{city}` })
})

test('a long response is truncated for the model with a note', async ({ server }) => {
  const bodyFor = async (text: string, type?: string) => {
    respondWith(server, text, type)
    return ((await createTool(record(server)).run({ city: 'x' }, createToolUse())) as { value: { body: unknown } }).value.body
  }
  assert.equal(await bodyFor(JSON.stringify(['x'.repeat(19_996)])), ['x'.repeat(19_996)])
  const cut = (await bodyFor(JSON.stringify(['x'.repeat(30_000)]))) as string
  assert.match(cut, /^\["x+\n\[Cut after 20000 of 30004 characters\.\]$/)
  assert.not.match((await bodyFor(`x${'😀'.repeat(20_000)}`, 'text/plain')) as string, /[\uD800-\uDBFF]\n/)
})

test('invalid arguments and blocked addresses are reported to the model as an error message', async ({ server }) => {
  const getErrorMessage = async (stored: StoredApiTool, args: Record<string, unknown>) =>
    createTool(stored)
      .run(args, createToolUse())
      .then(
        () => '',
        (error: Error) => error.message,
      )
  assert.is(await getErrorMessage(record(server), {}), 'arguments.city: is required.')
  assert.match(await getErrorMessage(record(server), { city: '..' }), 'must not be "." or ".."')
  assert.match(await getErrorMessage(record(server, { allow_private_network: false }), { city: 'x' }), 'in the private network')
})

test('credentials of the authentication and of headers are redacted from the response', async ({ server }) => {
  server.listener = (request, reply) => reply.setHeader('content-type', 'application/json').end(JSON.stringify(request.headers))
  const headers = { 'X-Key': 'canary-header', Accept: 'application/json', Authorization: 'Bearer canary-other' }
  const secrets = JSON.stringify({ headers, auth: { type: 'api_key', name: 'X-Other', value: 'canary-key' } })
  const outcome = JSON.stringify(await createTool(record(server, { secrets })).run({ city: 'x' }, createToolUse()))
  assert.match(outcome, 'application/json')
  assert.not.match(outcome, /canary/)
  assert.match(JSON.stringify(server.requests[0]?.headers), /canary-header.*canary-other.*canary-key/)
})

test('a running call is aborted with its conversation', async ({ server }) => {
  const controller = new AbortController()
  server.listener = () => controller.abort(new Error('enough'))
  assert.is(
    await createTool(record(server))
      .run({ city: 'x' }, createToolUse(controller.signal))
      .then(
        () => '',
        (error: Error) => error.message,
      ),
    'enough',
  )
})

test.run()
