import { hash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { Document } from '../../src/contract/families/documents.ts'
import { expectData, expectError } from '../harness/expect.ts'
import { reportFailure } from '../harness/hooks.ts'
import { isInBucket, listOriginals } from '../harness/object-store/test-storage.ts'
import { Resources } from '../harness/resources.ts'
import { deleteTestDatabase } from '../harness/sqld/test-database.ts'
import { type Json, TestServer } from '../harness/test-server.ts'
import { readSample } from '../knowledge/readers/samples.ts'

const test = suite('documents')
let server: TestServer
let resources: Resources

test.before(
  reportFailure(async () => {
    server = await TestServer.start()
    resources = new Resources(server)
  }),
)
test.after(reportFailure(() => server.close()))

const MAX_NAME_LENGTH = (Document.properties.name as { maxLength?: number }).maxLength ?? 0
let source: Json
test.before.each(async () => {
  source = await resources.source()
})

const path = (id = '') => `/knowledge-sources/${source.id}/documents${id && `/${id}`}`
const add = (fields: Record<string, unknown>) => server.post(path(), { index: false, ...fields })
/** Fields that indexing does not change. */
const identity = ({ id, name, type, size, content_hash, metadata, created_at }: Json) => ({
  id,
  name,
  type,
  size,
  content_hash,
  metadata,
  created_at,
})
const sha = (bytes: string | Buffer) => hash('sha256', bytes, 'hex')
const original = (contentHash: string) => join(server.paths.documents, contentHash.slice(0, 2), contentHash)
const readOriginal = async (contentHash: string) => (await listOriginals(server.paths)).get(contentHash)?.()
// Files of a home that are lost or left behind.
const fileTest = isInBucket ? test.skip : test

test('a new document is stored with its metadata and the status waiting', async () => {
  const text = 'Ünïcode # Leave'
  const document = await expectData(add({ name: 'policies/Leave.MD', content: text, metadata: { team: 'hr', year: 2026 } }), 201)
  const { id, created_at: _, updated_at: __, ...rest } = document
  assert.equal(rest, {
    knowledge_source_id: source.id,
    name: 'policies/Leave.MD',
    type: 'md',
    size: Buffer.byteLength(text),
    content_hash: sha(text),
    status: 'waiting',
    error: null,
    notice: null,
    pages: null,
    chunks: 0,
    metadata: { team: 'hr', year: 2026 },
  })
  assert.match(id, /^doc_/)
  assert.equal(identity(await expectData(server.get(path(id)))), identity(document))
  assert.is((await readOriginal(sha(text)))?.toString(), text)
})

test('content_base64 accepts base64 with or without padding and line breaks', async () => {
  const bytes = Buffer.from([0, 255, 128, 10, 13, 0, 7])
  const encoded = bytes.toString('base64')
  for (const [name, content_base64] of [
    ['a.pdf', encoded],
    ['b.pdf', encoded.replace(/=+$/, '')],
    ['c.pdf', `${encoded.slice(0, 4)}\n${encoded.slice(4)}`],
    ['d.pdf', bytes.toString('base64url')],
  ])
    assert.is((await expectData(add({ name, content_base64 }))).content_hash, sha(bytes))
  assert.equal(await readOriginal(sha(bytes)), bytes)
  for (const content_base64 of ['*', 'a', 'YQ===', 'YWJj*', 'Zm9v YmFy=x', 5])
    await expectError(add({ name: 'x.pdf', content_base64 }), 'VALIDATION_ERROR', { field: 'content_base64' })
})

test('a document has either content or content_base64, which may be empty', async () => {
  await expectError(add({ name: 'x.md' }), 'VALIDATION_ERROR', { field: 'content' })
  await expectError(add({ name: 'x.md', content: 'a', content_base64: 'YQ==' }), 'VALIDATION_ERROR', { field: 'content' })
  assert.is((await expectData(add({ name: 'empty.md', content: '' }))).size, 0)
  assert.is((await expectData(add({ name: 'empty.pdf', content_base64: '' }))).size, 0)
})

test('a document name must be a relative path inside the source', async () => {
  for (const name of [
    '../x.md',
    'a/../../x.md',
    '/etc/x.md',
    'a//b.md',
    './x.md',
    'a/./b.md',
    '..',
    '.',
    '',
    ' ',
    'a/ /b.md',
    'C:\\x.md',
    'C:/x.md',
    'a\\b.md',
    'a\u0000.md',
    'a\nb.md',
    '..\\x.md',
    `${'x'.repeat(MAX_NAME_LENGTH - 2)}.md`,
    '/',
  ])
    await expectError(add({ name, content: 'x' }), 'VALIDATION_ERROR', { field: 'name' })
  for (const name of [
    `${'x'.repeat(MAX_NAME_LENGTH - 3)}.md`,
    'x.md',
    'a/b/c.md',
    '...md',
    '名前.md',
    '..x.md',
    'a b.md',
    '%2e%2e/x.md',
    "it's.md",
  ])
    assert.is((await expectData(add({ name, content: 'x' }))).name, name)
  assert.not.ok(existsSync(join(server.paths.home, '..', 'x.md')))
})

test('documents of other file types than those of the source are rejected', async () => {
  await expectError(add({ name: 'program.exe', content: 'x' }), 'VALIDATION_ERROR', { field: 'name', error: /\.exe/, hint: /md/ })
  await expectError(add({ name: 'Makefile', content: 'x' }), 'VALIDATION_ERROR', { error: /no file extension/ })
  source = await resources.source({ configuration: { file_types: ['TXT'] } })
  await expectData(add({ name: 'a.txt', content: 'x' }), 201)
  await expectData(add({ name: 'a.Txt', content: 'x' }), 201)
  await expectError(add({ name: 'a.md', content: 'x' }), 'VALIDATION_ERROR', { field: 'name' })
})

test('a document is read as text without being stored', async () => {
  const read = (name: string, bytes: Uint8Array) =>
    server.post('/documents/text', { name, content_base64: Buffer.from(bytes).toString('base64') })
  const { text, truncated } = await expectData(read('reply.eml', readSample('reply.eml')))
  assert.match(text, /^# [\s\S]*From: /)
  assert.is(truncated, false)
  const long = await expectData(read('long.txt', Buffer.from('word '.repeat(100_000))))
  assert.equal([long.text.length, long.truncated], [200_000, true])
  await expectError(read('broken.pdf', Buffer.from('%PDF-1.7 nothing')), 'VALIDATION_ERROR', { error: /^broken\.pdf cannot be read\. / })
  await expectError(server.post('/documents/text', { name: 'a.md', content_base64: '*' }), 'VALIDATION_ERROR', { field: 'content_base64' })
  assert.equal((await server.get(path())).body.data, [])
})

test('documents larger than max_file_size are rejected', async () => {
  source = await resources.source({ configuration: { max_file_size: 4 } })
  await expectData(add({ name: 'a.md', content: 'xxxx' }), 201)
  await expectError(add({ name: 'b.md', content: 'xxxxx' }), 'PAYLOAD_TOO_LARGE', { error: /5 bytes.*at most 4/ })
  await expectError(add({ name: 'b.md', content: 'üüü' }), 'PAYLOAD_TOO_LARGE')
  assert.is((await server.get(path())).body.pagination.total, 1)
})

test('documents cannot be added to sources of other types than file', async () => {
  source = await resources.source({ type: 'text', configuration: { text: 'x' } })
  await expectError(add({ name: 'a.md', content: 'x' }), 'VALIDATION_ERROR', { error: /reads a text\. Documents cannot be added/ })
})

test('adding a document with an existing name replaces it and its original', async () => {
  const first = await expectData(add({ name: 'a.md', content: 'first of its kind', metadata: { v: 1 } }))
  const second = await expectData(add({ name: 'a.md', content: 'second of its kind' }), 201)
  assert.equal(
    [second.id, second.created_at, second.metadata, second.content_hash],
    [first.id, first.created_at, {}, sha('second of its kind')],
  )
  assert.is((await server.get(path())).body.pagination.total, 1)
  assert.not.ok(await readOriginal(first.content_hash))
  assert.ok(await readOriginal(second.content_hash))
})

test('document names are case-sensitive and unique per source', async () => {
  const one = await expectData(add({ name: 'Case.md', content: 'x' }))
  assert.is.not((await expectData(add({ name: 'case.md', content: 'x' }))).id, one.id)
  source = await resources.source()
  assert.is.not((await expectData(add({ name: 'Case.md', content: 'x' }))).id, one.id)
})

test('originals with the same content are stored once and deleted with the last document', async () => {
  const text = 'shared by three'
  const [one, two] = [await expectData(add({ name: 'a.md', content: text })), await expectData(add({ name: 'b.md', content: text }))]
  const other = await resources.document({ content: text })
  assert.ok(await readOriginal(sha(text)))
  await expectData(server.delete(path(one.id)))
  await expectData(server.delete(path(two.id)))
  assert.ok(await readOriginal(sha(text)))
  await expectData(server.delete(`/knowledge-sources/${other.knowledge_source_id}`))
  assert.not.ok(await readOriginal(sha(text)))
})

test('deleting a source deletes its documents and originals', async () => {
  const document = await expectData(add({ name: 'a.md', content: 'goes with its source' }))
  assert.is((await expectData(server.get(`/knowledge-sources/${source.id}`))).statistics.documents, 1)
  await expectData(server.delete(`/knowledge-sources/${source.id}`))
  await expectError(server.get(path(document.id)), 'NOT_FOUND')
  await expectError(server.get(path()), 'NOT_FOUND')
  assert.not.ok(await readOriginal(document.content_hash))
  assert.equal(await server.database.all('SELECT id FROM documents WHERE knowledge_source_id = ?', [source.id]), [])
})

test('a document is accessible only through its source', async () => {
  const document = await expectData(add({ name: 'a.md', content: 'x' }))
  source = await resources.source()
  await expectError(server.get(path(document.id)), 'NOT_FOUND')
  await expectError(server.delete(path(document.id)), 'NOT_FOUND')
  await expectError(server.get('/knowledge-sources/nobody/documents'), 'NOT_FOUND')
  await expectError(server.post('/knowledge-sources/nobody/documents', { name: 'a.md', content: 'x' }), 'NOT_FOUND')
})

test('documents of a source can be listed, sorted and filtered', async () => {
  const sizes = [5, 1, 3, 2, 4]
  for (const size of sizes) await expectData(add({ name: `${size}.${size % 2 ? 'md' : 'txt'}`, content: 'x'.repeat(size) }))
  await resources.document()
  const list = async (query: string) => (await expectData(server.get(`${path()}?${query}`))).map(({ size }: Json) => size)
  assert.equal(await list('sort=size&order=asc'), [1, 2, 3, 4, 5])
  assert.equal(await list('sort=name&order=desc&limit=2'), [5, 4])
  assert.equal((await list('type=txt')).sort(), [2, 4])
  assert.equal(await list('name=3.md'), [3])
  assert.equal(await list('status=indexed'), [])
  assert.equal(await list('knowledge_source_id=another'), [])
  await expectError(server.get(`${path()}?nam=x`), 'VALIDATION_ERROR', { hint: /"name"/ })
})

test('concurrent uploads with the same name create one document', async () => {
  const answers = await Promise.all(Array.from({ length: 10 }, (_, index) => add({ name: 'same.md', content: `by ${index}` })))
  assert.equal([...new Set(answers.map(({ status }) => status))], [201])
  const { data, pagination } = (await server.get(path())).body
  assert.is(pagination.total, 1)
  assert.ok(await readOriginal(data[0].content_hash))
  const mine = new Set(Array.from({ length: 10 }, (_, index) => sha(`by ${index}`)))
  assert.is([...(await listOriginals(server.paths)).keys()].filter((name) => mine.has(name)).length, 1)
})

fileTest('the daemon does not start if the database is lost and originals exist', async () => {
  const own = await TestServer.start()
  const { id } = (await expectData(own.post('/knowledge-sources', { name: 'kept', type: 'file' }), 201)) as Json
  const { content_hash } = await expectData(own.post(`/knowledge-sources/${id}/documents`, { name: 'a.md', content: 'precious' }), 201)
  const home = await own.stop()
  const path = join(own.paths.documents, content_hash.slice(0, 2), content_hash)
  for (const empty of [true, false]) {
    for (const end of ['', '-wal', '-shm']) rmSync(own.paths.database + end, { force: true })
    if (empty) writeFileSync(own.paths.database, '')
    await deleteTestDatabase(own.paths)
    for (const _ of ['first', 'second']) {
      const started = await TestServer.start({ home }).catch((error: Error) => error)
      assert.match((started as Error).message, /is missing or empty, but .* holds documents/)
      assert.ok(existsSync(path))
    }
  }
  rmSync(own.paths.documents, { recursive: true })
  await (await TestServer.start({ home })).close()
})

test('document metadata must be an object of at most 64 KB', async () => {
  await expectError(
    add({ name: 'a.md', content: 'x', metadata: Object.fromEntries(Array.from({ length: 101 }, (_, index) => [`k${index}`, 1])) }),
    'VALIDATION_ERROR',
    { field: 'metadata' },
  )
  await expectError(add({ name: 'a.md', content: 'x', metadata: { a: 'y'.repeat(64 * 1024) } }), 'VALIDATION_ERROR', { field: 'metadata' })
  await expectError(add({ name: 'a.md', content: 'x', metadata: { a: Array.from({ length: 1_050_000 }, () => 1) } }), 'PAYLOAD_TOO_LARGE', {
    error: /values/,
  })
  for (const metadata of [null, [], 'x', 5])
    await expectError(add({ name: 'a.md', content: 'x', metadata }), 'VALIDATION_ERROR', { field: 'metadata' })
})

fileTest('orphaned originals are deleted at the next start', async () => {
  const kept = await expectData(add({ name: 'kept.md', content: 'stored across a restart' }))
  const orphan = sha('nobody recorded this')
  mkdirSync(join(server.paths.documents, orphan.slice(0, 2)), { recursive: true })
  writeFileSync(original(orphan), 'nobody recorded this')
  writeFileSync(`${original(kept.content_hash)}.partial`, 'kept o')
  const home = await server.stop()
  server = await TestServer.start({ home })
  assert.not.ok(existsSync(original(orphan)))
  assert.not.ok(existsSync(`${original(kept.content_hash)}.partial`))
  assert.is(readFileSync(original(kept.content_hash), 'utf8'), 'stored across a restart')
  assert.equal(identity(await expectData(server.get(path(kept.id)))), identity(kept))
})

test.run()
