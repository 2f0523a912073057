import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { ApiToolRunner } from '../../daemon/api-tools/api-tool-runner.ts'
import { createAgentTool } from '../../daemon/api-tools/create-agent-tool.ts'
import type { StoredApiTool } from '../../daemon/api-tools/store.ts'
import type { ToolContext } from '../../daemon/core/tool.ts'
import { createOutbound } from '../../daemon/outbound/client.ts'
import { createValidator } from '../../daemon/validation/validator.ts'
import { type StandIn, standIn } from '../outbound/stand-in.ts'

const test = suite<{ server: StandIn }>('API tools of an agent')
const outbound = createOutbound()
const vault = { location: 'file', seal: (plain: string) => plain, open: (sealed: string) => sealed } as const
const calls = new ApiToolRunner({ vault, validator: createValidator(), outbound })
const use = (signal: AbortSignal = new AbortController().signal): ToolContext => ({
  caller: { tokenId: 't', role: 'member', userId: 'ada' },
  origin: {},
  signal,
})

test.before.each(async (context) => {
  context.server = await standIn()
})
test.after.each(async ({ server }) => server.close())
test.after(() => outbound.close())

const record = (server: StandIn, fields: Partial<StoredApiTool> = {}): StoredApiTool => ({
  id: 'api_1',
  name: 'weather',
  description: 'Weather in a city',
  method: 'GET',
  url: `${server.origin}/weather/{city}`,
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  locations: {},
  body_format: 'json',
  timeout_ms: 10_000,
  allow_private_network: true,
  requires_confirmation: true,
  header_names: [],
  auth: { type: 'none' },
  secrets: null,
  version: 1,
  created_at: '',
  updated_at: '',
  ...fields,
})
const toolOf = (stored: StoredApiTool) => createAgentTool(stored, (args, signal) => calls.run(stored, args, { signal, hideHeaders: true }))
const answering = (server: StandIn, body: string, type = 'application/json') => {
  server.answer = (_, reply) => reply.writeHead(200, { 'content-type': type }).end(body)
}

test('it says what it is, and gives status and body', async ({ server }) => {
  answering(server, '{"degrees":21}')
  const { run, ...tool } = toolOf(record(server))
  assert.equal(tool, {
    id: 'api_1',
    name: 'weather',
    description: 'Weather in a city',
    parameters: record(server).parameters,
    requiresConfirmation: true,
  })
  assert.equal(await run({ city: 'Lisbon' }, use()), { kind: 'value', value: { status: 200, body: { degrees: 21 } } })
  assert.is(server.requests[0]?.url, '/weather/Lisbon')
  assert.match(toolOf(record(server, { description: '' })).description, 'Calls GET http')
})

test('a long answer is cut for the model, and says so', async ({ server }) => {
  const bodyFor = async (text: string, type?: string) => {
    answering(server, text, type)
    return ((await toolOf(record(server)).run({ city: 'x' }, use())) as { value: { body: unknown } }).value.body
  }
  assert.equal(await bodyFor(JSON.stringify(['x'.repeat(19_996)])), ['x'.repeat(19_996)])
  const cut = (await bodyFor(JSON.stringify(['x'.repeat(30_000)]))) as string
  assert.match(cut, /^\["x+\n\[Cut after 20000 of 30004 characters\.\]$/)
  assert.not.match((await bodyFor(`x${'😀'.repeat(20_000)}`, 'text/plain')) as string, /[\uD800-\uDBFF]\n/)
})

test('what is wrong with arguments, address or answer is a sentence for the model', async ({ server }) => {
  const failing = async (stored: StoredApiTool, args: Record<string, unknown>) =>
    toolOf(stored)
      .run(args, use())
      .then(
        () => '',
        (error: Error) => error.message,
      )
  assert.is(await failing(record(server), {}), 'arguments.city: is required.')
  assert.match(await failing(record(server), { city: '..' }), 'must not be "." or ".."')
  assert.match(await failing(record(server, { allow_private_network: false }), { city: 'x' }), 'inside the private network')
})

test('keys are kept from the model: those of the authentication and those in headers', async ({ server }) => {
  server.answer = (request, reply) => reply.setHeader('content-type', 'application/json').end(JSON.stringify(request.headers))
  const headers = { 'X-Key': 'canary-header', Accept: 'application/json', Authorization: 'Bearer canary-other' }
  const secrets = JSON.stringify({ headers, auth: { type: 'api_key', name: 'X-Other', value: 'canary-key' } })
  const outcome = JSON.stringify(await toolOf(record(server, { secrets })).run({ city: 'x' }, use()))
  assert.match(outcome, 'application/json')
  assert.not.match(outcome, /canary/)
  assert.match(JSON.stringify(server.requests[0]?.headers), /canary-header.*canary-other.*canary-key/)
})

test('it ends when the conversation does', async ({ server }) => {
  const ending = new AbortController()
  server.answer = () => ending.abort(new Error('enough'))
  const begun = performance.now()
  assert.is(
    await toolOf(record(server))
      .run({ city: 'x' }, use(ending.signal))
      .then(
        () => '',
        (error: Error) => error.message,
      ),
    'enough',
  )
  assert.ok(performance.now() - begun < 9_000)
})

test.run()
