import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { reportFailure } from '../harness/hooks.ts'
import { ScriptedProvider, streamText } from '../harness/scripted-provider.ts'
import type { Json } from '../harness/test-server.ts'
import { GENERATIONS, McpFixture } from './mcp-fixture.ts'

const test = suite('MCP clients')
let fixture: McpFixture
let provider: ScriptedProvider
let source: Json

test.before(
  reportFailure(async () => {
    ;[fixture, provider] = await Promise.all([McpFixture.open(), ScriptedProvider.start('openai', streamText('Twenty-', 'five days [1].'))])
    source = await fixture.addSource('handbook')
    const { id } = await fixture.resources.model({ ...provider.model, supports_tools: false })
    const tool = await fixture.resources.ragTool({ name: 'Ask the handbook', knowledge_source_id: source.id, expose_mcp: true })
    await fixture.resources.agent({ name: 'Helper', model_id: id, tools: [tool.id] })
    await fixture.resources.retrievalTool({ name: 'search', knowledge_source_ids: [source.id], expose_mcp: true })
    await fixture.resources.retrievalTool({ name: 'hidden', knowledge_source_ids: [source.id] })
    const template = await fixture.resources.template({ name: 'Support reply', template: 'Answer {{customer}} about {{topic}}.' })
    for (const customer of ['Acme', 'Apex', 'Bolt'])
      await fixture.resources.agent({ prompt_template_id: template.id, variables: { customer, topic: 'leave' } })
  }),
)
test.after(reportFailure(async () => void (await Promise.all([fixture.close(), provider.close()]))))

for (const generation of GENERATIONS) {
  test(`${generation}: tools are listed with schemas and hints, and exposed tools never replace fixed ones`, async () => {
    const client = await fixture.connect(generation)
    assert.is(client.getServerVersion()?.name, 'cadre')
    const { tools } = await client.listTools()
    assert.equal(
      tools.map(({ name }) => name),
      ['search', 'ask', 'read_document', 'list_sources', 'describe_tables', 'query_table', 'Ask_the_handbook', 'search_2'],
    )
    for (const { inputSchema, outputSchema, annotations } of tools) {
      assert.equal([inputSchema.type, outputSchema.type], ['object', 'object'])
      assert.is(annotations.readOnlyHint, true)
    }
  })

  test(`${generation}: search finds passages of all sources or of the named ones`, async () => {
    const client = await fixture.connect(generation)
    const { content, structuredContent } = await client.callTool({
      name: 'search',
      arguments: { query: 'How many days of leave?', sources: ['handbook'], top_k: 1 },
    })
    const [{ document, source: name, document_id, page }] = structuredContent.results
    assert.equal([document, name, page], ['leave.md', 'handbook', 1])
    assert.match(content[0].text, `leave.md, page 1 · source handbook · ${document_id}`)
    assert.match(content[0].text, 'twenty-five days')
    assert.ok((await client.callTool({ name: 'search', arguments: { query: 'hotel' } })).structuredContent.results.length > 0)
    const unknown = await client.callTool({ name: 'search', arguments: { query: 'hotel', sources: ['nothing'] } })
    assert.equal([unknown.isError, unknown.content[0].text], [true, 'There is no knowledge source "nothing".'])
    const invalid = await client.callTool({ name: 'search', arguments: { query: '' } })
    assert.is(invalid.isError, true)
    assert.match(invalid.content[0].text, 'query')
  })

  test(`${generation}: documents are read by name or ID, in part and several at once`, async () => {
    const client = await fixture.connect(generation)
    const read = async (...documents: object[]) =>
      (await client.callTool({ name: 'read_document', arguments: { documents } })).structuredContent
    const [first, second, third] = (
      await read(
        { document: 'leave.md', from_line: 3, to_line: 3 },
        { document: 'travel/hotels.md', source: 'handbook' },
        { document: 'x' },
      )
    ).documents
    assert.equal(first.text, 'Every employee gets twenty-five days of paid annual leave.')
    assert.equal([first.from_line, first.to_line, first.lines, first.source], [3, 3, 5, 'handbook'])
    assert.match(second.text, /^# Hotels\n\nA hotel/)
    assert.is(third.error, 'There is no document "x".')
    assert.is((await read({ document: second.document_id })).documents[0].document, 'travel/hotels.md')
  })

  test(`${generation}: sources and their documents are listed`, async () => {
    const client = await fixture.connect(generation)
    const { structuredContent: listed } = await client.callTool({ name: 'list_sources' })
    assert.equal(
      listed.sources.map(({ name, documents, status }: Json) => [name, documents, status]),
      [['handbook', 2, 'active']],
    )
    const { structuredContent: one } = await client.callTool({ name: 'list_sources', arguments: { source: source.id } })
    assert.equal(
      one.documents.map(({ name }: Json) => name),
      ['leave.md', 'travel/hotels.md'],
    )
  })

  test(`${generation}: an agent answers with citations and reports progress`, async () => {
    const client = await fixture.connect(generation)
    const messages: string[] = []
    const call = { name: 'ask', arguments: { question: 'How many days of leave?', agent: 'Helper' } }
    const { structuredContent, content, isError } = await client.callTool(call, {
      onprogress: ({ message }) => messages.push(String(message)),
    })
    assert.not(isError, content[0].text)
    assert.equal([structuredContent.answer, structuredContent.agent], ['Twenty-five days [1].', 'Helper'])
    assert.is(structuredContent.citations[0].source, 'leave.md')
    assert.match(content[0].text, '[1] leave.md, page 1')
    assert.match(messages[0] ?? '', /Reading \d passages/)
    const ambiguous = await client.callTool({ name: 'ask', arguments: { question: 'Hello?' } })
    assert.is(ambiguous.isError, true)
    assert.match(ambiguous.content[0].text, /there are 4 agents.*\n.*"Helper"/)
  })

  test(`${generation}: exposed tools are called`, async () => {
    const client = await fixture.connect(generation)
    const query = { query: 'How many days of leave?' }
    const { structuredContent: found } = await client.callTool({ name: 'search_2', arguments: query })
    assert.is(found.results[0].metadata.source, 'leave.md')
    const { structuredContent: answered } = await client.callTool({ name: 'Ask_the_handbook', arguments: query })
    assert.match(answered.answer, 'twenty-five')
    await client.callTool({ name: 'hidden', arguments: query }).then(
      () => assert.unreachable(),
      (error) => assert.match(error.message, 'There is no tool "hidden"'),
    )
  })

  test(`${generation}: documents are resources`, async () => {
    const client = await fixture.connect(generation)
    const { resources } = await client.listResources()
    assert.equal(
      resources.map(({ uri }) => uri),
      ['cadre://sources/handbook/leave.md', 'cadre://sources/handbook/travel/hotels.md'],
    )
    const [{ text, mimeType }] = (await client.readResource({ uri: resources[1].uri })).contents as [Json]
    assert.match(text, '140 euros')
    assert.is(mimeType, 'text/markdown')
    const { resourceTemplates } = await client.listResourceTemplates()
    assert.is(resourceTemplates.length, 2)
    const complete = async (name: string, value: string, others?: object) => {
      const ref = { type: 'ref/resource', uri: resourceTemplates[0].uriTemplate }
      return (await client.complete({ ref, argument: { name, value }, ...(others ? { context: { arguments: others } } : {}) })).completion
        .values
    }
    assert.equal(await complete('source', 'Hand'), ['handbook'])
    assert.equal(await complete('document', 'tra', { source: 'handbook' }), ['travel/hotels.md'])
    await client.readResource({ uri: 'cadre://sources/handbook/none.md' }).then(
      () => assert.unreachable(),
      (error) => assert.match(error.message, /not found/i),
    )
  })

  test(`${generation}: prompt templates are prompts, and arguments are completed with the values of agents`, async () => {
    const client = await fixture.connect(generation)
    const { prompts } = await client.listPrompts()
    const [prompt] = prompts
    assert.equal([prompt.name, prompt.title], ['Support_reply', 'Support reply'])
    assert.equal(
      prompt.arguments.map(({ name }: Json) => name),
      ['customer', 'topic'],
    )
    const { messages } = await client.getPrompt({ name: 'Support_reply', arguments: { customer: 'Acme', topic: 'leave' } })
    assert.equal(messages, [{ role: 'user', content: { type: 'text', text: 'Answer Acme about leave.' } }])
    const ref = { type: 'ref/prompt', name: 'Support_reply' }
    assert.equal((await client.complete({ ref, argument: { name: 'customer', value: 'a' } })).completion.values, ['Acme', 'Apex'])
    await client.getPrompt({ name: 'Support_reply', arguments: { customer: 'Acme' } }).then(
      () => assert.unreachable(),
      (error) => assert.match(error.message, 'there is no value for topic'),
    )
  })
}

test('completion finds documents among many', async () => {
  const { database } = fixture.service
  const columns = (await database.all<{ name: string }>('PRAGMA table_info(documents)')).map(({ name }) => name)
  const values = columns.map((name) => (['id', 'name', 'name_key'].includes(name) ? "'doc_0' || value" : `documents."${name}"`))
  const numbers = JSON.stringify(Array.from({ length: 1_500 }, (_, index) => index))
  const sql = `INSERT INTO documents (${columns.join(', ')})
    SELECT ${values.join(', ')} FROM documents, json_each(?) WHERE name = 'leave.md'`
  await database.write((transaction) => transaction.run(sql, [numbers]))
  const client = await fixture.connect()
  const ref = { type: 'ref/resource', uri: 'cadre://sources/{source}/{+document}' }
  const complete = async (value: string) => (await client.complete({ ref, argument: { name: 'document', value } })).completion.values
  assert.equal([await complete('TRA'), (await complete('doc_0')).length], [['travel/hotels.md'], 100])
})

test.run()
