import { readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { reportFailure } from '../../harness/hooks.ts'
import { isInBucket } from '../../harness/object-store/test-storage.ts'
import type { Json } from '../../harness/test-server.ts'
import { waitFor } from '../../harness/wait-for.ts'
import { KnowledgeFixture } from '../knowledge-fixture.ts'
import { ScriptedEmbedder } from '../scripted-embedder.ts'

const repair = suite('repair of damaged indexes')
// A bucket does not damage its objects.
const test = isInBucket ? repair.skip : repair
let knowledge: KnowledgeFixture
let embedder: ScriptedEmbedder
let model: { id: string }

repair.before(
  reportFailure(async () => {
    knowledge = await KnowledgeFixture.start()
    embedder = await ScriptedEmbedder.start()
    model = await knowledge.resources.model(embedder.model)
  }),
)
repair.after(
  reportFailure(async () => {
    await embedder.close()
    await knowledge.close()
  }),
)

type Side = 'text' | 'vectors'

/** The names of manifests count down. */
const findNewestManifest = (table: string) => {
  const versions = join(table, '_versions')
  return join(
    versions,
    readdirSync(versions)
      .filter((name) => name.endsWith('.manifest'))
      .sort()[0] as string,
  )
}
const listFiles = (table: string, folder: string) =>
  readdirSync(join(table, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))

const DAMAGES: Record<string, (table: string) => void> = {
  'a table that is gone': (table) => rmSync(table, { recursive: true }),
  'an empty newest manifest': (table) => truncateSync(findNewestManifest(table), 0),
  'a newest manifest of zeros, which opens as an empty table': (table) =>
    writeFileSync(findNewestManifest(table), Buffer.alloc(statSync(findNewestManifest(table)).size)),
  'a data file that is gone': (table) => rmSync(listFiles(table, 'data')[0] as string),
  'a data file of zeros': (table) => {
    const [file] = listFiles(table, 'data')
    writeFileSync(file as string, Buffer.alloc(statSync(file as string).size))
  },
  'all data files gone': (table) => rmSync(join(table, 'data'), { recursive: true }),
  'its indices gone': (table) => rmSync(join(table, '_indices'), { recursive: true }),
  'empty pages of indices': (table) => {
    for (const file of listFiles(table, '_indices')) if (file.endsWith('page_data.lance')) truncateSync(file)
  },
  'index files of zeros': (table) => {
    for (const file of listFiles(table, '_indices')) writeFileSync(file, Buffer.alloc(statSync(file).size))
  },
}

interface DamagedIndex {
  name: string
  damage: (table: string) => void
  side: Side
  source?: Json
  tools?: Json[]
  index?: Json
}

const damaged: DamagedIndex[] = Object.entries(DAMAGES).flatMap(([what, damage]) =>
  (['text', 'vectors'] as const).map((side) => ({ name: `${what} (${side})`, damage, side })),
)

/** One start repairs all of them: a start for each would take most of the time of these tests. */
test('damaged indexes never answer as empty ones while they are repaired at the next start', async () => {
  for (const each of damaged) {
    const { id } = await knowledge.createSource()
    const methods = ['full_text', 'semantic', 'hybrid']
    each.tools = await Promise.all(methods.map((search_method) => knowledge.createTool(id, { embedding_model: model.id, search_method })))
    for (const name of ['oak', 'elm', 'ash']) await knowledge.addDocument(id, `${name}.md`, `The ${name} stands behind the mill.`)
    each.source = await knowledge.sync(id)
    each.index = (await knowledge.listIndexes(id))[0]
  }
  knowledge = await knowledge.restart(() => {
    for (const { index, side, damage } of damaged) damage(join(knowledge.service.paths.vectors, `${index.id}-${side}.lance`))
  })
  for (const { name, tools = [] } of damaged)
    for (const tool of tools) assert.is((await knowledge.searchNames(tool, 'oak mill'))[0], 'oak.md', `${name}, ${tool.search_method}`)
})

for (const each of damaged) {
  test(`${each.name} is repaired`, async () => {
    const { source, tools = [], index } = each
    await knowledge.waitForSync(source.id)
    for (const tool of tools) assert.equal((await knowledge.searchNames(tool, 'elm mill')).sort(), ['ash.md', 'elm.md', 'oak.md'])
    for (const side of ['text', 'vectors'] as const) assert.is((await knowledge.readRows(index, side)).length, 3)
    assert.equal((await knowledge.getSource(source.id)).statistics, {
      documents: 3,
      chunks: 3,
      failed: 0,
      skipped: 0,
      skipped_types: {},
      embedded: 3,
      recognizing: 0,
    })
    await knowledge.addDocument(source.id, 'yew.md', 'The yew stands behind the church.')
    await knowledge.sync(source.id)
    assert.is((await knowledge.searchNames(tools[0], 'yew'))[0], 'yew.md')
  })
}

test('a damaged catalog of tables is created again, without another sync', async () => {
  const source = await knowledge.createSource()
  const tool = await knowledge.createTool(source.id, { embedding_model: model.id })
  await knowledge.addDocument(source.id, 'oak.md', 'The oak stands behind the mill.')
  await knowledge.sync(source.id)
  const before = await knowledge.listTables()
  const embedded = embedder.texts.length
  knowledge = await knowledge.restart(() => {
    const manifest = findNewestManifest(join(knowledge.service.paths.vectors, '__manifest'))
    const content = readFileSync(manifest)
    content.subarray(content.length >> 2, content.length >> 1).fill(0x5a)
    writeFileSync(manifest, content)
  })
  assert.equal(await knowledge.searchNames(tool, 'oak mill'), ['oak.md'])
  assert.equal(await knowledge.listTables(), before)
  assert.equal(embedder.texts.slice(embedded), ['oak mill'])
})

test('a damaged index does not prevent the repair of others', async () => {
  const ids = []
  const tools = []
  for (const name of ['red', 'green', 'blue']) {
    const source = await knowledge.createSource()
    tools.push(await knowledge.createTool(source.id, { embedding_model: model.id }))
    await knowledge.addDocument(source.id, `${name}.md`, `The ${name} door leads to the garden.`)
    await knowledge.sync(source.id)
    ids.push(source.id)
  }
  const indexes = await Promise.all(ids.map(async (id) => (await knowledge.listIndexes(id))[0]))
  knowledge = await knowledge.restart(() => {
    for (const [at, index] of indexes.entries()) {
      const table = join(knowledge.service.paths.vectors, `${index.id}-text.lance`)
      if (at === 0) rmSync(join(table, '_versions'), { recursive: true })
      if (at === 1) writeFileSync(findNewestManifest(table), 'this is no manifest')
      if (at === 2) rmSync(table, { recursive: true })
    }
  })
  for (const [at, id] of ids.entries()) {
    assert.is((await knowledge.searchNames(tools[at], 'door')).length, 1)
    await knowledge.waitForSync(id)
    assert.is((await knowledge.readRows(indexes[at], 'text')).length, 1)
  }
})

test('an interrupted batch is undone even if its table is damaged', async () => {
  const source = await knowledge.createSource()
  const tool = await knowledge.createTool(source.id, { embedding_model: model.id })
  for (const name of ['oak', 'elm']) await knowledge.addDocument(source.id, `${name}.md`, `The ${name} stands behind the mill.`)
  await knowledge.sync(source.id)
  const [index] = await knowledge.listIndexes(source.id)
  for (const side of ['text', 'vectors'] as Side[]) {
    const documents = (await knowledge.documents(source.id)).map(({ id }) => id)
    await knowledge.service.database.write((transaction) =>
      transaction.run('UPDATE indexes SET batch = ? WHERE id = ?', [
        JSON.stringify({ side, generation: 99, documents: documents.slice(0, 1) }),
        index.id,
      ]),
    )
    const table = join(knowledge.service.paths.vectors, `${index.id}-${side}.lance`)
    knowledge = await knowledge.restart(() => truncateSync(findNewestManifest(table), 0))
    assert.equal((await knowledge.searchNames(tool, 'mill')).sort(), ['elm.md', 'oak.md'])
    await knowledge.waitForSync(source.id)
    assert.is((await knowledge.listIndexes(source.id))[0].batch, null)
    for (const each of ['text', 'vectors'] as const) assert.is((await knowledge.readRows(index, each)).length, 2)
  }
})

test('outdated vectors of a replaced document do not cause other passages to be embedded again', async () => {
  const source = await knowledge.createSource()
  await knowledge.createTool(source.id, { embedding_model: model.id })
  for (const name of ['oak', 'elm', 'ash']) await knowledge.addDocument(source.id, `${name}.md`, `The ${name} stands behind the mill.`)
  await knowledge.sync(source.id)
  await knowledge.addDocument(source.id, 'oak.md', 'The oak was felled. '.repeat(60))
  embedder.hold()
  await knowledge.startSync(source.id)
  await waitFor(async () => embedder.holding > 0)
  knowledge = await knowledge.restart()
  const textsBefore = embedder.texts.length
  embedder.release()
  await knowledge.waitForSync(source.id)
  assert.ok(embedder.texts.slice(textsBefore).length > 0)
  for (const text of embedder.texts.slice(textsBefore)) assert.match(text, /felled/)
  const [index] = await knowledge.listIndexes(source.id)
  assert.is((await knowledge.readRows(index, 'vectors')).length, (await knowledge.readRows(index, 'text')).length)
})

repair.run()
