import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { CHUNKING_VERSION } from '../../../daemon/knowledge/chunking/chunking-settings.ts'
import { getIndexVersion } from '../../../daemon/knowledge/passage-indexes/index-store.ts'
import { DEFAULT_EMBEDDING_MODEL } from '../../../src/contract/schemas/passages.ts'
import { reportFailure } from '../../harness/hooks.ts'
import { isInBucket } from '../../harness/object-store/test-storage.ts'
import { copyHome } from '../../harness/pausable-disk.ts'
import { isOnServer } from '../../harness/sqld/test-database.ts'
import type { Json } from '../../harness/test-server.ts'
import { waitFor } from '../../harness/wait-for.ts'
import { KnowledgeFixture } from '../knowledge-fixture.ts'
import { ScriptedEmbedder } from '../scripted-embedder.ts'

const test = suite('upgrade of indexes made by older chunking')
let knowledge: KnowledgeFixture
let embedder: ScriptedEmbedder
let model: { id: string }

const DOCUMENTS = { 'oak.md': '# Trees\n\nThe oak stands behind the mill.', 'elm.md': '# Trees\n\nThe elm stands behind the mill.' }

test.before(
  reportFailure(async () => {
    knowledge = await KnowledgeFixture.start()
    embedder = await ScriptedEmbedder.start()
    model = await knowledge.resources.model(embedder.model)
  }),
)
test.before.each(() => embedder.release())
test.after(
  reportFailure(async () => {
    await embedder.close()
    await knowledge.close()
  }),
)

/** Creates a source with a tool and makes its index look like one of the first release. */
async function createOutdatedSource(): Promise<{ source: Json; tool: Json; fullText: Json; index: Json }> {
  const { source, tool } = await knowledge.createSourceWithTool(model.id)
  const fullText = await knowledge.createTool(source.id, { embedding_model: model.id, search_method: 'full_text' })
  for (const [name, content] of Object.entries(DOCUMENTS)) await knowledge.addDocument(source.id, name, content)
  await knowledge.sync(source.id)
  const [index] = await knowledge.listIndexes(source.id)
  await markOutdated(source.id)
  await knowledge.withVectors(async (database) => {
    await (await database.openTable(`${index.id}-text`)).update({ values: { content: 'old passage' } })
  })
  return { source, tool, fullText, index }
}

const markOutdated = (sourceId: string) =>
  knowledge.service.database.write((transaction) =>
    transaction.run('UPDATE indexes SET chunking_version = 1 WHERE knowledge_source_id = ?', [sourceId]),
  )

const searchContents = async (fixture: KnowledgeFixture, tool: Json, fields = {}) =>
  (await fixture.search(tool, 'oak mill', fields)).map(({ content }) => content as string)
const waitForOneIndex = (fixture: KnowledgeFixture, source: Json): Promise<Json> =>
  waitFor(async () => {
    const [index, ...others] = await fixture.listIndexes(source.id)
    return others.length === 0 ? index : undefined
  })
const countUsers = async (index: Json) =>
  (await knowledge.service.database.all('SELECT * FROM index_users WHERE index_id = ?', [index.id])).length

test('the daemon rebuilds an outdated index once, and the old passages are found until the new ones are complete', async () => {
  const { source, tool, fullText, index } = await createOutdatedSource()
  const before = await countUsers(index)
  embedder.hold()
  knowledge = await knowledge.restart()
  const progress = await waitFor(async () => {
    const current = (await knowledge.getSource(source.id)).progress
    return current?.stage === 'embedding' && embedder.holding > 0 ? current : undefined
  })
  assert.equal([progress.documents, progress.documents_total, progress.chunks_total], [2, 2, 2])
  assert.is((await knowledge.getSource(source.id)).status, 'active')
  assert.equal((await knowledge.listIndexes(source.id)).map(({ chunking_version }) => chunking_version).sort(), [1, CHUNKING_VERSION])
  assert.equal(await searchContents(knowledge, fullText), ['old passage', 'old passage'])
  embedder.release()
  await waitForOneIndex(knowledge, source)
  await knowledge.waitForSync(source.id)
  const indexes = await knowledge.listIndexes(source.id)
  assert.equal(
    indexes.map(({ chunking_version, ready }) => [chunking_version, ready]),
    [[CHUNKING_VERSION, 1]],
  )
  assert.is(await countUsers(indexes[0] as Json), before)
  assert.not((await knowledge.listTables()).some((name) => name.startsWith(index.id)))
  for (const each of [tool, fullText]) assert.match((await searchContents(knowledge, each))[0] as string, 'The oak stands')
  const texts = embedder.texts.length
  knowledge = await knowledge.restart()
  await knowledge.sync(source.id)
  assert.equal(await knowledge.listIndexes(source.id), indexes)
  assert.is(embedder.texts.length, texts, 'nothing is embedded again')
})

// The home of a killed daemon is copied, with its records and vectors.
const fileTest = isOnServer || isInBucket ? test.skip : test
fileTest('an upgrade that was killed continues at the next start', async () => {
  const { source, tool, index } = await createOutdatedSource()
  embedder.hold()
  knowledge = await knowledge.restart()
  await waitFor(async () => (embedder.holding > 0 ? true : undefined))
  const after = await KnowledgeFixture.start({ home: copyHome(knowledge.service.paths.home) })
  try {
    assert.equal((await after.listIndexes(source.id)).length, 2)
    embedder.release()
    const upgraded = await waitForOneIndex(after, source)
    assert.equal([upgraded.chunking_version, upgraded.ready], [CHUNKING_VERSION, 1])
    await after.waitForSync(source.id)
    assert.not((await after.listTables()).some((name) => name.startsWith(index.id)))
    assert.match((await searchContents(after, tool))[0] as string, 'The oak stands')
  } finally {
    await after.close()
  }
})

test('an upgrade that fails keeps the old passages and is repeated by the next sync', async () => {
  const { source, tool } = await createOutdatedSource()
  embedder.failure = { status: 400, error: 'no' }
  const requests = embedder.requests
  knowledge = await knowledge.restart()
  await waitFor(async () => (embedder.requests > requests ? true : undefined))
  await knowledge.waitForSync(source.id)
  embedder.failure = undefined
  assert.equal(await searchContents(knowledge, tool), ['old passage', 'old passage'])
  await knowledge.sync(source.id)
  assert.match((await searchContents(knowledge, tool))[0] as string, 'The oak stands')
  assert.is((await knowledge.listIndexes(source.id)).length, 1)
})

test('a new tool and the sync of a source without tools also replace an outdated index', async () => {
  const plain = await knowledge.createSyncedSource(DOCUMENTS)
  const { source } = await createOutdatedSource()
  await markOutdated(plain.id)
  await knowledge.createTool(source.id, { embedding_model: model.id })
  await waitForOneIndex(knowledge, source)
  assert.equal(
    (await knowledge.listIndexes(source.id)).map(({ chunking_version }) => chunking_version),
    [CHUNKING_VERSION],
  )
  await knowledge.sync(plain.id)
  assert.equal(
    (await knowledge.listIndexes(plain.id)).map(({ chunking_version }) => chunking_version),
    [getIndexVersion(DEFAULT_EMBEDDING_MODEL)],
  )
})

test.run()
