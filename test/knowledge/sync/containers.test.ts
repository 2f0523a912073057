import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { expectData } from '../../harness/expect.ts'
import type { Json } from '../../harness/test-server.ts'
import { KnowledgeFixture } from '../knowledge-fixture.ts'
import { zip } from '../readers/document-fixtures.ts'
import { readSample } from '../readers/samples.ts'

const test = suite<{ knowledge: KnowledgeFixture; folder: string }>('archives and mails in a sync')

test.before(async (context) => {
  context.knowledge = await KnowledgeFixture.start()
})
test.after(({ knowledge }) => knowledge.close())
test.before.each((context) => {
  context.folder = mkdtempSync(join(tmpdir(), 'cadre-containers-'))
})
test.after.each(({ folder }) => rmSync(folder, { recursive: true, force: true }))

const list = (documents: Json[]) => documents.map(({ name }) => name).sort()
const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64')
const house = (parts: Parameters<typeof zip>[0]) => zip(parts)

async function syncFolder(knowledge: KnowledgeFixture, folder: string): Promise<Json> {
  const source = await knowledge.createSource('folder', { path: folder })
  return knowledge.sync(source.id)
}

test('the files of an archive and the mails of a mailbox are documents, and an unchanged one is not read again', async ({
  knowledge,
  folder,
}) => {
  writeFileSync(join(folder, 'house.zip'), readSample('house.zip'))
  writeFileSync(join(folder, 'inbox.mbox'), readSample('inbox.mbox'))
  const source = await syncFolder(knowledge, folder)
  const documents = await knowledge.documents(source.id)
  assert.ok(
    documents.every(({ name, status }) => status === (name.endsWith('.png') ? 'failed' : 'indexed')),
    JSON.stringify(documents),
  )
  const names = list(documents)
  for (const name of [
    'house.zip',
    'house.zip/notes/wifi.txt',
    'house.zip/inner.zip/key.txt',
    'inbox.mbox/2024-04-14 Regatta (Mia Torres).eml',
  ])
    assert.ok(names.includes(name), `${name} is missing: ${names}`)
  assert.not.ok(names.some((name) => /passwd|hidden/.test(name)))
  await knowledge.sync(source.id)
  assert.equal(await knowledge.documents(source.id), documents)
})

test('a changed archive updates its documents only where they changed, and deletes those that are gone', async ({ knowledge, folder }) => {
  const path = join(folder, 'house.zip')
  writeFileSync(path, house({ 'a.md': 'one', 'b.md': 'two', 'c.md': 'three' }))
  const source = await syncFolder(knowledge, folder)
  const before = await knowledge.documents(source.id)
  writeFileSync(path, house({ 'a.md': 'one', 'b.md': 'changed', 'd.md': 'four' }))
  await knowledge.sync(source.id)
  const after = await knowledge.documents(source.id)
  assert.equal(list(after), ['house.zip', 'house.zip/a.md', 'house.zip/b.md', 'house.zip/d.md'])
  const get = (documents: Json[], name: string) => documents.find((document) => document.name === `house.zip/${name}`)
  assert.equal(get(after, 'a.md'), get(before, 'a.md'))
  assert.is(get(after, 'b.md')?.id, get(before, 'b.md')?.id)
  assert.is.not(get(after, 'b.md')?.content_hash, get(before, 'b.md')?.content_hash)
  rmSync(path)
  writeFileSync(join(folder, 'other.md'), 'x')
  await knowledge.sync(source.id)
  assert.equal(list(await knowledge.documents(source.id)), ['other.md'])
})

test('files of an archive that are not read are listed as skipped, with their reason', async ({ knowledge, folder }) => {
  const path = join(folder, 'house.zip')
  const inner = { 'inner.zip': Buffer.from(house({ 'film.mp4': 'x' })) }
  writeFileSync(path, house({ 'a.md': 'one', 'song.mp3': 'x', '.hidden.mp3': 'x', 'Thumbs.db': 'x', ...inner }))
  const source = await syncFolder(knowledge, folder)
  const listSkipped = async () => {
    const skipped = await expectData(knowledge.service.get(`/knowledge-sources/${source.id}/documents?status=skipped&sort=name&order=asc`))
    return skipped.map(({ name, error }: Json) => `${name}: ${error}`)
  }
  const expected = [
    'house.zip/inner.zip/film.mp4: Files of type .mp4 are not supported.',
    'house.zip/song.mp3: Files of type .mp3 are not supported.',
  ]
  assert.equal(await listSkipped(), expected)
  assert.equal(source.statistics.skipped_types, { mp3: 1, mp4: 1 })
  assert.equal((await knowledge.getDocument(source.id, 'house.zip')).metadata.skipped_files, 2)
  await knowledge.sync(source.id)
  assert.equal(await listSkipped(), expected)
  writeFileSync(path, house({ 'a.md': 'one' }))
  await knowledge.sync(source.id)
  assert.equal(await listSkipped(), [])
})

test('a document of an archive that was deleted or never stored comes back with the next sync', async ({ knowledge, folder }) => {
  writeFileSync(join(folder, 'house.zip'), house({ 'a.md': 'one', 'b.md': 'two' }))
  const source = await syncFolder(knowledge, folder)
  const { id } = await knowledge.getDocument(source.id, 'house.zip/a.md')
  await expectData(knowledge.service.delete(`/knowledge-sources/${source.id}/documents/${id}`))
  await knowledge.sync(source.id)
  assert.equal(list(await knowledge.documents(source.id)), ['house.zip', 'house.zip/a.md', 'house.zip/b.md'])
})

test('a change of the file types of a source applies to its archives', async ({ knowledge, folder }) => {
  writeFileSync(join(folder, 'house.zip'), house({ 'a.md': 'one', 'b.txt': 'two' }))
  const source = await syncFolder(knowledge, folder)
  await expectData(
    knowledge.service.patch(`/knowledge-sources/${source.id}`, { configuration: { path: folder, file_types: ['zip', 'txt'] } }),
  )
  await knowledge.waitForSync(source.id)
  await knowledge.sync(source.id)
  assert.equal(list(await knowledge.documents(source.id)), ['house.zip', 'house.zip/b.txt'])
})

test('an archive that cannot be read has a reason, and what was read of it is kept', async ({ knowledge, folder }) => {
  writeFileSync(join(folder, 'secret.zip'), readSample('secret.zip'))
  writeFileSync(join(folder, 'cut.tar'), readSample('house.tar').slice(0, 20_000))
  const source = await syncFolder(knowledge, folder)
  const check = async () => {
    assert.is((await knowledge.getDocument(source.id, 'secret.zip')).error, 'The archive is password-protected.')
    assert.match((await knowledge.getDocument(source.id, 'cut.tar')).error, 'truncated or damaged')
    assert.is((await knowledge.getDocument(source.id, 'cut.tar/notes/garden.md')).status, 'indexed')
  }
  await check()
  await knowledge.sync(source.id)
  await check()
})

test('an uploaded archive is expanded, and its documents are deleted with it', async ({ knowledge }) => {
  const source = await knowledge.createSource()
  const upload = (name: string, bytes: Uint8Array) =>
    expectData(
      knowledge.service.post(`/knowledge-sources/${source.id}/documents`, { name, content_base64: base64(bytes), metadata: { by: 'me' } }),
      201,
    )
  const { id } = await upload('team/house.zip', house({ 'a.md': 'one', 'b.md': 'two' }))
  await upload('reply.eml', readSample('reply.eml'))
  await knowledge.waitForSync(source.id)
  const names = ['reply.eml', 'reply.eml/Anfahrt für Lieferanten.txt', 'reply.eml/prices.csv']
  assert.equal(list(await knowledge.documents(source.id)), [...names, 'team/house.zip', 'team/house.zip/a.md', 'team/house.zip/b.md'])
  const documents = await knowledge.documents(source.id)
  await knowledge.sync(source.id)
  assert.equal(await knowledge.documents(source.id), documents)
  await upload('team/house.zip', house({ 'b.md': 'two', 'c.md': 'three' }))
  await knowledge.waitForSync(source.id)
  assert.equal(list(await knowledge.documents(source.id)), [...names, 'team/house.zip', 'team/house.zip/b.md', 'team/house.zip/c.md'])
  assert.equal((await knowledge.getDocument(source.id, 'team/house.zip')).metadata, { by: 'me' })
  await expectData(knowledge.service.delete(`/knowledge-sources/${source.id}/documents/${id}`))
  assert.equal(list(await knowledge.documents(source.id)), names)
})

test.run()
