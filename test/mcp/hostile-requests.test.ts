import fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { MCP_TOOLS } from '../../src/contract/mcp.ts'
import { ROLES } from '../../src/contract/route.ts'
import { reportFailure } from '../harness/hooks.ts'
import type { Json } from '../harness/test-server.ts'
import { McpFixture } from './mcp-fixture.ts'

const SEED = 20260728
const REQUESTS = 1_500
const INTERNAL_ERROR = -32603

const test = suite('hostile MCP requests')
let fixture: McpFixture

test.before(
  reportFailure(async () => {
    fixture = await McpFixture.open({ resolve: async () => [] })
    const source = await fixture.addSource('handbook')
    await fixture.resources.ragTool({ name: 'answer', knowledge_source_id: source.id, expose_mcp: true })
    await fixture.resources.apiTool({ name: 'fetch', expose_mcp: true })
    await fixture.resources.template({ name: 'greeting' })
    await fixture.resources.agent({ name: 'Helper' })
  }),
)
test.after(reportFailure(() => fixture.close()))

/** Answers a request as JSON-RPC, which is sent as JSON or as the last event of a stream. */
async function send(
  payload: string,
  role: string,
  headers: Record<string, string> = {},
  { service } = fixture,
): Promise<{ status: number; text: string; rpc: Json }> {
  const response = await service.app.server.inject({
    method: 'POST',
    url: '/mcp',
    headers: {
      host: service.host,
      authorization: `Bearer ${await service.token(role as 'admin')}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    payload,
  })
  const last =
    response.payload
      .match(/^data: (.+)$/gm)
      ?.at(-1)
      ?.slice('data: '.length) ?? response.payload
  return {
    status: response.statusCode,
    text: response.payload,
    rpc: last.startsWith('{') || last.startsWith('[') ? JSON.parse(last) : undefined,
  }
}

const METHODS = [
  'initialize',
  'ping',
  'server/discover',
  'tools/list',
  'tools/call',
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'resources/subscribe',
  'prompts/list',
  'prompts/get',
  'completion/complete',
  'logging/setLevel',
  'sampling/createMessage',
  'tasks/get',
  'notifications/cancelled',
  'notifications/progress',
]
const TOOLS = [...Object.keys(MCP_TOOLS), 'answer', 'fetch']
const URIS = [
  'cadre://sources/handbook/leave.md',
  'cadre://sources/%/x',
  'cadre://sources/%ff/..%2f..%2fetc',
  'file:///etc/passwd',
  'cadre://',
]
const WORDS = [
  '',
  ' ',
  '\u0000',
  '\ud800',
  '../../etc/passwd',
  '__proto__',
  'constructor',
  "' OR 1=1 --",
  'ﷺ'.repeat(50),
  'x'.repeat(3_000),
]
const text = fc.oneof(
  fc.string({ maxLength: 30 }),
  fc.constantFrom(...WORDS, ...TOOLS, ...URIS, 'handbook', 'leave.md', 'greeting', 'Helper'),
)
const value = fc.oneof(
  text,
  fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<unknown>,
  fc.constantFrom(null, 0, -1, 1, 1.5, 1e308, 2 ** 53, true, [], {}, [[]]),
)
const FIELDS = [
  'query',
  'question',
  'agent',
  'source',
  'sources',
  'document',
  'documents',
  'from_line',
  'from_character',
  'to_line',
  'page',
  'top_k',
  'filters',
]
const input = fc.dictionary(
  fc.oneof(fc.constantFrom(...FIELDS), text),
  fc.oneof(value, fc.array(fc.dictionary(fc.constantFrom(...FIELDS), value))),
)
const params = fc.oneof(
  fc.record({ name: fc.oneof(fc.constantFrom(...TOOLS), text), arguments: fc.oneof(input, value) }, { requiredKeys: ['name'] }),
  fc.record({ uri: fc.oneof(fc.constantFrom(...URIS), text), cursor: value }, { requiredKeys: [] }),
  fc.record({
    ref: fc.oneof(fc.record({ type: fc.constantFrom('ref/prompt', 'ref/resource'), name: text, uri: text }), value),
    argument: fc.oneof(fc.record({ name: fc.constantFrom('source', 'document', 'document_id', 'name'), value: text }), value),
    context: fc.oneof(fc.record({ arguments: fc.dictionary(fc.constantFrom('source', 'document'), text) }), value),
  }),
  fc.record({ protocolVersion: text, capabilities: value, clientInfo: value, _meta: value }),
  fc.record({ requestId: value, progressToken: value }),
  fc.constant({}),
  value,
)
const message = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({ jsonrpc: fc.constant('2.0'), id: fc.integer(), method: fc.constantFrom(...METHODS), params }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ jsonrpc: value, id: value, method: value, params, result: value, error: value }, { requiredKeys: [] }),
  },
)
const request = fc.record({
  body: fc.oneof(
    { weight: 8, arbitrary: message },
    { weight: 1, arbitrary: fc.array(message, { maxLength: 3 }) },
    { weight: 1, arbitrary: value },
  ),
  role: fc.constantFrom(...ROLES),
  headers: fc.oneof(
    { weight: 4, arbitrary: fc.constant({}) },
    fc.dictionary(
      fc.constantFrom('mcp-protocol-version', 'mcp-session-id', 'last-event-id', 'mcp-method', 'mcp-name', 'accept'),
      fc.constantFrom('', 'x', '2026-07-28', '2025-11-25', '1900-01-01', 'tools/call', 'text/html'),
    ),
  ),
})

test(`${REQUESTS} generated messages get a response and cause no internal error`, async () => {
  const statuses: Record<number, number> = {}
  let results = 0
  for (const [index, { body, role, headers }] of fc.sample(request, { seed: SEED, numRuns: REQUESTS }).entries()) {
    const payload = JSON.stringify(body)
    const { status, text: answer, rpc } = await send(payload, role, headers)
    const description = `request ${index}: ${payload.slice(0, 1_000)}\n${status} ${answer.slice(0, 1_000)}`
    assert.ok(status < 500, description)
    assert.not(
      [rpc].flat().some((one) => one?.error?.code === INTERNAL_ERROR),
      description,
    )
    assert.not.match(answer, 'This is a bug in Cadre')
    statuses[status] = (statuses[status] ?? 0) + 1
    if (rpc?.result) results++
  }
  console.log(`${JSON.stringify(statuses)}, ${results} results`)
  // The generator must also create valid messages.
  assert.ok(results > 100, `only ${results} results`)
  assert.equal(
    fixture.service.log.split('\n').filter((line) => line.includes('"level":"error"')),
    [],
  )
})

test('bodies that are malformed, deeply nested or too large are rejected', async () => {
  const call = (input: string) => `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search","arguments":${input}}}`
  assert.is((await send('{"jsonrpc":', 'admin')).status, 400)
  assert.is((await send(call(JSON.stringify({ query: 'x'.repeat(5 * 1024 * 1024) })), 'admin')).status, 413)
  for (const nested of ['['.repeat(50_000) + ']'.repeat(50_000), `${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`]) {
    const { status, rpc } = await send(call(nested), 'admin')
    assert.ok(status === 400 || rpc.error || rpc.result.isError, `${status}`)
  }
})

test('a batch of many calls is limited', async () => {
  const batch = Array.from({ length: 5_000 }, (_, id) => ({ jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'list_sources' } }))
  const { status, rpc } = await send(JSON.stringify(batch), 'viewer')
  assert.ok(status === 400 || rpc.error, `${status}`)
})

test('each message of a batch counts for the rate limit', async () => {
  const limited = await McpFixture.open({ rateLimit: 10, ownerRateLimit: 1_000 })
  try {
    const sendBatch = (length: number) =>
      send(JSON.stringify(Array.from({ length }, (_, id) => ({ jsonrpc: '2.0', id, method: 'tools/list' }))), 'viewer', {}, limited)
    assert.is((await sendBatch(10)).status, 200)
    assert.is((await sendBatch(1)).status, 429)
  } finally {
    await limited.close()
  }
})

test.run()
