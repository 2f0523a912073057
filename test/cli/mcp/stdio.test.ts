import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { Client as EarlierClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport as EarlierTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openTerminal, type Terminal } from '../../harness/cli.ts'
import { reportFailure } from '../../harness/hooks.ts'
import { hang, ScriptedProvider } from '../../harness/scripted-provider.ts'
import type { Json } from '../../harness/test-server.ts'
import { waitFor } from '../../harness/wait-for.ts'
import { disableTimeouts } from '../../mcp/mcp-fixture.ts'

const test = suite('cadre mcp')
let terminal: Terminal
let provider: ScriptedProvider

test.before(
  reportFailure(async () => {
    terminal = openTerminal()
    provider = await ScriptedProvider.start('openai', hang)
    writeFileSync(join(terminal.home, '..', 'leave.md'), '# Leave\n\nTwenty-five days.\n')
  }),
)
test.after(reportFailure(async () => void (await Promise.all([terminal.close(), provider.close()]))))

/** Starts `cadre mcp` as a client does. */
const getServer = () => ({
  command: process.execPath,
  args: [terminal.command, 'mcp'],
  env: terminal.environment as Record<string, string>,
})

async function connect(generation: string): Promise<Json> {
  const information = { name: 'test', version: '1' }
  if (generation === 'sdk 1') {
    const client = disableTimeouts(new EarlierClient(information))
    await client.connect(new EarlierTransport(getServer()) as never)
    return client
  }
  const mode = generation === 'handshake' ? 'legacy' : { pin: generation }
  const client = disableTimeouts(new Client(information, { versionNegotiation: { mode: mode as 'legacy' } }))
  await client.connect(new StdioClientTransport(getServer()))
  return client
}

test('the first message starts the daemon, and all messages are answered before the command ends', async () => {
  const messages = [
    { id: 1, method: 'initialize', params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'x', version: '1' } } },
    { method: 'notifications/initialized' },
    { id: 'two', method: 'tools/list' },
    { id: 3, method: 'nothing' },
  ]
  const input = ['not JSON', '', ...messages.map((message) => JSON.stringify({ jsonrpc: '2.0', ...message }))].join('\n')
  const { code, stdout, stderr } = await terminal.run(['mcp'], { input })
  assert.is(code, 0, stderr)
  assert.match(stderr, 'Started the Cadre daemon')
  const answers = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  const find = (id: unknown) => answers.find((answer) => answer.id === id)
  assert.is(find(null).error.code, -32_700)
  assert.equal([find(1).result.serverInfo.name, find(1).result.protocolVersion], ['cadre', '2025-06-18'])
  assert.ok(find('two').result.tools.some(({ name }: Json) => name === 'search'))
  assert.is(find(3).error.code, -32_601)
  assert.is(answers.length, 4)
})

for (const generation of ['2026-07-28', 'handshake', 'sdk 1'])
  test(`${generation}: a client reads a document with a name that is not ASCII`, async () => {
    const { data: source } = await terminal.request('POST', '/knowledge-sources', { name: generation, type: 'file' })
    const document = { name: 'größe.md', content: '# Größe\n\nXL', index: false }
    await terminal.request('POST', `/knowledge-sources/${source.id}/documents`, document)
    const client = await connect(generation)
    const { contents } = await client.readResource({ uri: `cadre://sources/${generation}/größe.md` })
    assert.is(contents[0].text, '# Größe\n\nXL')
    const { structuredContent } = await client.callTool({ name: 'list_sources', arguments: { source: generation } })
    assert.is(structuredContent.documents[0].name, 'größe.md')
    await client.close()
  })

test('a cancelled call aborts the model call', async () => {
  const { data: model } = await terminal.request('POST', '/models', { name: 'slow', ...provider.model })
  await terminal.request('POST', '/agents', { name: 'Slow', model_id: model.id })
  for (const generation of ['2026-07-28', 'handshake']) {
    const client = await connect(generation)
    const known = provider.received.length
    const controller = new AbortController()
    const call = client.callTool({ name: 'ask', arguments: { question: 'Hello?' } }, { signal: controller.signal })
    await waitFor(() => provider.received.length > known || undefined)
    controller.abort()
    await call.then(
      () => assert.unreachable(),
      () => {},
    )
    await provider.received.at(-1)?.closed
    await client.close()
  }
})

test('a restarted daemon is found again', async () => {
  const client = await connect('handshake')
  await client.listTools()
  const { code, stderr } = await terminal.run(['daemon', 'restart'])
  assert.is(code, 0, stderr)
  assert.ok((await client.listTools()).tools.length >= 4)
  await client.close()
})

test('a rejected token is reported as the answer', async () => {
  const input = `${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' })}\n`
  const { stdout } = await terminal.run(['mcp'], { input, environment: { CADRE_TOKEN: 'cadre_wrong' } })
  assert.match(JSON.parse(stdout).error.message, 'The token is not valid.')
})

test.run()
