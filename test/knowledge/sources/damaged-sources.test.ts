import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { reportFailure } from '../../harness/hooks.ts'
import { isInBucket } from '../../harness/object-store/test-storage.ts'
import type { Json } from '../../harness/test-server.ts'
import { waitFor } from '../../harness/wait-for.ts'
import { KnowledgeFixture, TemporaryFolder } from '../knowledge-fixture.ts'
import { commit, git } from './git-server.ts'

const test = suite('damaged repositories and originals, and invalid globs')
let knowledge: KnowledgeFixture
let folder: TemporaryFolder

test.before(
  reportFailure(async () => {
    knowledge = await KnowledgeFixture.start()
  }),
)
test.before.each(() => {
  folder = new TemporaryFolder()
})
test.after.each(() => folder.remove())
test.after(reportFailure(() => knowledge.close()))

const listNames = async (id: string) => (await knowledge.documents(id)).map(({ name, status }: Json) => [name, status]).sort()

test('a missing git object fails the sync and keeps the documents', async () => {
  const project = join(folder.path, 'project')
  mkdirSync(project)
  git(project, 'init', '--quiet', '--initial-branch=main')
  commit(project, { 'a.md': 'The heron nests by the pond.', 'b.md': 'The kestrel nests in the tower.' })
  const { id } = await knowledge.createSource('git', { repository: project })
  await knowledge.createTool(id)
  assert.is((await knowledge.sync(id)).status, 'active')
  const blob = git(project, 'rev-parse', 'HEAD:b.md').toString().trim()
  rmSync(join(project, '.git/objects', blob.slice(0, 2), blob.slice(2)))
  const { status, error } = await knowledge.sync(id)
  assert.is(status, 'error')
  assert.match(error, /project is damaged: the content of b\.md is missing\. Run git fsck/)
  assert.equal(await listNames(id), [
    ['a.md', 'indexed'],
    ['b.md', 'indexed'],
  ])
})

/** Replaces the content of all originals, as a failing disk does. */
function damageOriginals(): void {
  const { documents: originals } = knowledge.service.paths
  for (const entry of readdirSync(originals, { recursive: true, withFileTypes: true }))
    if (entry.isFile()) writeFileSync(join(entry.parentPath, entry.name), 'The contract ends on the first of May.')
}

// test/store/objects has tests of damaged originals in a bucket.
const fileTest = isInBucket ? test.skip : test
fileTest('a damaged original is not indexed, and is read from its source again by the next sync', async () => {
  folder.write({ 'a.md': 'The contract ends on the first of June.' })
  const { id } = await knowledge.createSource('folder', { path: folder.path })
  const tool = await knowledge.createTool(id, { search_method: 'full_text' })
  await knowledge.sync(id)
  damageOriginals()
  const other = await knowledge.createTool(id, { search_method: 'full_text', chunk_size: 200, chunk_overlap: 20 })
  const document = await waitFor(async () => {
    const found = await knowledge.getDocument(id, 'a.md')
    return found.status === 'failed' && found
  })
  assert.match(document.error, /The original is damaged: its content does not match its hash/)
  await knowledge.sync(id)
  assert.equal(await listNames(id), [['a.md', 'indexed']])
  for (const { id: toolId } of [tool, other]) assert.equal(await knowledge.searchNames({ id: toolId }, 'contract June'), ['a.md'])
})

test('a stored glob that is too long fails the sync with its reason', async () => {
  folder.write({ [`${'a'.repeat(60)}.md`]: 'text' })
  const source = await knowledge.createSource('folder', { path: folder.path, watch: true })
  const configuration = JSON.stringify({ ...source.configuration, include: ['a'.repeat(1_001)] })
  await knowledge.service.database.write((transaction) =>
    transaction.run('UPDATE knowledge_sources SET configuration = ? WHERE id = ?', [configuration, source.id]),
  )
  knowledge = await knowledge.restart()
  const { status, error } = await knowledge.sync(source.id)
  assert.is(status, 'error')
  assert.match(error, /is too long/)
  const rejected = await knowledge.service.post('/knowledge-sources', {
    name: 'Long glob',
    type: 'folder',
    configuration: JSON.parse(configuration),
  })
  assert.equal([rejected.status, rejected.body.details[0].field], [400, 'configuration.include.0'])
})

test.run()
