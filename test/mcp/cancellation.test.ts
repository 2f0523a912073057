import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { reportFailure } from '../harness/hooks.ts'
import { hang, ScriptedProvider, streamText } from '../harness/scripted-provider.ts'
import { waitFor } from '../harness/wait-for.ts'
import { GENERATIONS, McpFixture } from './mcp-fixture.ts'

const test = suite('MCP cancellation')
let fixture: McpFixture
let provider: ScriptedProvider

test.before(
  reportFailure(async () => {
    ;[fixture, provider] = await Promise.all([McpFixture.open(), ScriptedProvider.start('openai', hang)])
    const { id } = await fixture.resources.model(provider.model)
    await fixture.resources.agent({ name: 'Slow', model_id: id })
  }),
)
test.after(reportFailure(async () => void (await Promise.all([fixture.close(), provider.close()]))))

const question = { name: 'ask', arguments: { question: 'Hello?' } }

for (const generation of GENERATIONS)
  test(`${generation}: a cancelled call aborts the model call, and others continue`, async () => {
    const [client, another] = [await fixture.connect(generation), await fixture.connect(generation)]
    const known = provider.received.length
    const controller = new AbortController()
    const cancelled = client.callTool(question, { signal: controller.signal, onprogress: () => {} })
    const other = another.callTool(question, { onprogress: () => {} })
    let isOtherOpen = true
    other.catch(() => undefined).finally(() => (isOtherOpen = false))
    await waitFor(() => provider.received.length === known + 2 || undefined)
    controller.abort()
    await cancelled.then(
      () => assert.unreachable(),
      () => {},
    )
    const [first, second] = provider.received.slice(known)
    await Promise.race([first?.closed, second?.closed])
    assert.ok(isOtherOpen)
    await client.listTools()
    await another.close()
    await Promise.all([first?.closed, second?.closed])
  })

test('fifty clients are served at the same time without mix-ups', async () => {
  provider.script = [streamText('Done.')]
  await fixture.addUnindexedSource(
    'notes',
    Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`note-${at}.md`, `# Note ${at}\n\nText ${at}.`])),
  )
  const clients = await Promise.all(Array.from({ length: 50 }, (_, at) => fixture.connect(GENERATIONS[at % 3])))
  await Promise.all(
    clients.map(async (client, at) => {
      const [read, asked] = await Promise.all([
        client.callTool({ name: 'read_document', arguments: { documents: [{ document: `note-${at}.md`, from_line: 3 }] } }),
        client.callTool(question),
      ])
      assert.is(read.structuredContent.documents[0].text, `Text ${at}.`)
      assert.is(asked.structuredContent.answer, 'Done.')
    }),
  )
})

test('a stopping daemon ends open calls', async () => {
  const stopping = await McpFixture.open()
  const hanging = await ScriptedProvider.start('openai', hang)
  const { id } = await stopping.resources.model(hanging.model)
  await stopping.resources.agent({ model_id: id })
  const client = await stopping.connect('handshake')
  const call = client.callTool(question, { onprogress: () => {} }).then(
    () => 'answered',
    () => 'failed',
  )
  await waitFor(() => hanging.received.length === 1 || undefined)
  await stopping.service.close()
  await client.close()
  assert.is(await call, 'failed')
  await hanging.close()
})

test.run()
