import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { selectLines } from '../../daemon/knowledge/sync/select-lines.ts'
import { reportFailure } from '../harness/hooks.ts'
import type { Json } from '../harness/test-server.ts'
import { McpFixture } from './mcp-fixture.ts'

const test = suite('MCP documents')
let fixture: McpFixture

test.before(
  reportFailure(async () => {
    fixture = await McpFixture.open()
  }),
)
test.after(reportFailure(() => fixture.close()))

const read = async (...documents: object[]): Promise<Json> =>
  (await fixture.connect()).callTool({ name: 'read_document', arguments: { documents } })

test('lines are selected within a limit of characters, and a line that is too long is cut', () => {
  const text = 'one\ntwo\nthree\n'
  const select = (from: number, to: number, maxCharacters = 100) => selectLines({ text }, { from, to, maxCharacters })
  assert.equal(select(2, 2), { text: 'two', from: 2, to: 2, lines: 3 })
  assert.equal(select(1, 99), { text: 'one\ntwo\nthree', from: 1, to: 3, lines: 3 })
  assert.equal(select(1, 99, 7), { text: 'one\ntwo', from: 1, to: 2, lines: 3 })
  assert.equal(select(3, 3, 2), { text: 'th', from: 3, to: 3, lines: 3, nextCharacter: 3 })
  assert.equal(select(4, 9), { text: '', from: 4, to: 3, lines: 3 })
  const range = { from: 1, to: 2, maxCharacters: 4 }
  assert.equal(selectLines({ text: 'abc😀d\ne' }, range), { text: 'abc', from: 1, to: 1, lines: 2, nextCharacter: 4 })
  assert.equal(selectLines({ text: 'abc😀d\ne' }, { ...range, fromCharacter: 4 }), { text: '😀d', from: 1, to: 1, lines: 2 })
})

test('a line that is longer than a result is read part by part', async () => {
  const line = Array.from({ length: 25_000 }, (_, at) => at).join(' ')
  await fixture.addUnindexedSource('line', { 'line.json': `first\n${line}\nlast` })
  let text = ''
  for (let from_character: number | undefined = 1; from_character !== undefined; ) {
    const { structuredContent, content } = await read({ document: 'line.json', from_line: 2, from_character })
    const [part] = structuredContent.documents
    text += part.text
    from_character = part.next_character
    if (from_character !== undefined) assert.match(content[0].text, `Read on with from_line 2 and from_character ${from_character}.]`)
  }
  assert.is(text, `${line}\nlast`)
})

test('a document of another folder or case is suggested, and up to five if several have the name', async () => {
  const readme = Object.fromEntries(Array.from({ length: 7 }, (_, at) => [`part${at}/readme.md`, 'text']))
  await fixture.addUnindexedSource('folders', { 'notes/bicycle.md': 'A bell.', ...readme })
  const getError = async (document: string) => (await read({ document })).content[0].text
  for (const reference of ['bicycle.md', 'Bicycle.md', 'docs/bicycle.md'])
    assert.is(await getError(reference), `There is no document "${reference}". Did you mean notes/bicycle.md?`)
  const names = Array.from({ length: 5 }, (_, at) => `part${at}/readme.md`)
  assert.is(await getError('readme.md'), `There is no document "readme.md". Did you mean ${names.slice(0, 4).join(', ')} or ${names[4]}?`)
  for (const reference of ['icycle.md', 'notes/', '%'])
    assert.is(await getError(reference), `There is no document "${reference}".`, reference)
})

test('a call returns a limited number of characters and says where to read on', async () => {
  const line = 'x'.repeat(99)
  await fixture.addUnindexedSource('long', { 'long.md': Array(1_000).fill(line).join('\n'), 'short.md': 'short' })
  const { structuredContent, content } = await read({ document: 'long.md' }, { document: 'short.md' })
  const [first, second] = structuredContent.documents
  assert.equal([first.to_line, first.lines], [600, 1_000])
  assert.match(content[0].text, '[Lines 601 to 1000 were not read. Read on with from_line 601.]')
  assert.match(second.error, 'a call returns at most 60000 characters')
  const beyond = await read({ document: 'short.md', from_line: 9 })
  assert.equal([beyond.isError, beyond.content[0].text], [true, '"short.md" has only 1 lines.'])
  assert.match((await read({ document: 'short.md', from_line: 2, to_line: 1 })).content[0].text, 'to_line must not be less than from_line')
})

test('a name that several sources have needs the source', async () => {
  const sources = [
    await fixture.addUnindexedSource('one', { 'same.md': 'first' }),
    await fixture.addUnindexedSource('two', { 'same.md': 'second' }),
  ]
  const { isError, content } = await read({ document: 'same.md' })
  assert.is(isError, true)
  assert.match(content[0].text, 'Several knowledge sources have a document "same.md".')
  for (const [at, text] of ['first', 'second'].entries())
    assert.is((await read({ document: 'same.md', source: sources[at].name })).structuredContent.documents[0].text, text)
})

test('tables are described and queried, and a query that is refused says why', async () => {
  await fixture.addUnindexedSource('sales', { 'orders.csv': 'Id,Status,Amount\n1,cancelled,0.1\n2,shipped,5\n3,cancelled,0.2\n' })
  const client = await fixture.connect('2026-07-28', 'viewer')
  const described: Json = await client.callTool({ name: 'describe_tables', arguments: { source: 'sales' } })
  assert.equal(
    described.structuredContent.tables.map(({ name, rows }: Json) => [name, rows]),
    [['orders', 3]],
  )
  assert.match(described.content[0].text, '- orders: orders.csv, 3 rows. Columns: id integer, status text, amount decimal.')
  const query = (sql: string): Promise<Json> => client.callTool({ name: 'query_table', arguments: { source: 'sales', sql } })
  const { structuredContent, content } = await query("select count(*) as n, sum(amount) as total from orders where status = 'cancelled'")
  assert.equal(structuredContent, { columns: ['n', 'total'], rows: [[2, 0.3]], truncated: false })
  assert.match(content[0].text, /^n \| total\n2 \| 0\.3\n\nSource: orders\.csv · doc_/)
  const refused = await query('delete from orders')
  assert.is(refused.isError, true)
  assert.match(refused.content[0].text, 'Write one SELECT over the tables of the source.')
})

test('a viewer can search a source', async () => {
  const source = await fixture.addSource('indexed', { 'days.md': 'Thirty days of rest.' })
  await fixture.resources.retrievalTool({ knowledge_source_ids: [source.id] })
  const client = await fixture.connect('2026-07-28', 'viewer')
  const { structuredContent } = await client.callTool({ name: 'search', arguments: { query: 'rest', sources: ['indexed'] } })
  assert.is(structuredContent.results[0].document, 'days.md')
})

test('search returns the descriptions of the source and the folder, and list_sources lists them', async () => {
  const source = await fixture.addSource('described', { 'hr/pay.md': 'Pay day is the last Friday.' })
  await fixture.resources.retrievalTool({ knowledge_source_ids: [source.id] })
  await fixture.service.patch(`/knowledge-sources/${source.id}`, { description: 'For staff.', folder_descriptions: { hr: 'Pay rules.' } })
  const client = await fixture.connect()
  const found: Json = await client.callTool({ name: 'search', arguments: { query: 'pay day', sources: ['described'] } })
  const folder = { path: 'described/hr', description: 'Pay rules.' }
  assert.equal(found.structuredContent.results[0].descriptions, [{ path: 'described', description: 'For staff.' }, folder])
  assert.match(found.content[0].text, 'About the documents:\n- described: For staff.\n- described/hr: Pay rules.\n\n[1] hr/pay.md')
  const listed: Json = await client.callTool({ name: 'list_sources', arguments: { source: 'described' } })
  const [{ description, folders }] = listed.structuredContent.sources
  assert.equal([description, folders], ['For staff.', [folder]])
  const all: Json = await client.callTool({ name: 'list_sources', arguments: {} })
  assert.match(all.content[0].text, /- described: 1 document,.*\n {2}For staff\.\n {2}- described\/hr: Pay rules\./)
})

test('resources are listed in pages, and an invalid cursor is rejected', async () => {
  await fixture.addUnindexedSource('many', Object.fromEntries(Array.from({ length: 120 }, (_, at) => [`${at}.md`, String(at)])))
  const client = await fixture.connect('sdk 1')
  const first = await client.listResources()
  assert.is(first.resources.length, 100)
  const second = await client.listResources({ cursor: first.nextCursor as string })
  assert.ok(second.resources.length >= 20)
  assert.is(new Set([...first.resources, ...second.resources].map(({ uri }) => uri)).size, first.resources.length + second.resources.length)
  await client.listResources({ cursor: 'x' }).then(
    () => assert.unreachable(),
    (error) => assert.match(error.message, 'The cursor is not valid.'),
  )
})

test.run()
