import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { expectData } from '../../harness/expect.ts'
import { reportFailure } from '../../harness/hooks.ts'
import { isSqldInstalled, Sqld } from '../../harness/sqld/start-sqld.ts'
import type { Json } from '../../harness/test-server.ts'
import { KnowledgeFixture } from '../../knowledge/knowledge-fixture.ts'

const test = suite('tables of several daemons')
const check = isSqldInstalled() ? test : test.skip

const folder = mkdtempSync(join(tmpdir(), 'cadre-tables-'))
let sqld: Sqld
/** Two homes with the same documents and vectors, as in a bucket: each builds its own tables. */
let a: KnowledgeFixture
let b: KnowledgeFixture
let source: Json
let tool: Json

if (isSqldInstalled()) {
  test.before(
    reportFailure(async () => {
      sqld = await Sqld.start()
      const databaseServer = { url: sqld.url, token: undefined }
      a = await KnowledgeFixture.start({ databaseServer })
      const home = join(folder, 'home')
      mkdirSync(home, { mode: 0o700 })
      const { documents, vectors } = a.service.paths
      symlinkSync(documents, join(home, 'documents'))
      symlinkSync(vectors, join(home, 'vectors'))
      b = await KnowledgeFixture.start({ databaseServer, home })
      source = await a.createSyncedSource({ 'orders.csv': 'Order,Status\n1,open\n2,cancelled\n3,open\n' })
      tool = await a.resources.ragTool({ knowledge_source_id: source.id })
      await a.waitForSync(source.id)
    }),
  )
  test.after(
    reportFailure(async () => {
      await b.service.stop()
      await a.close()
      sqld.remove()
      rmSync(folder, { recursive: true, force: true })
    }),
  )
}

const count = async (daemon: KnowledgeFixture): Promise<number> => {
  const sql = "SELECT count(*) FROM orders WHERE status = 'open'"
  return (await expectData(daemon.service.post(`/knowledge-sources/${source.id}/tables/query`, { sql }))).rows[0][0]
}
const listTables = async (daemon: KnowledgeFixture): Promise<Json[]> =>
  (await expectData(daemon.service.get(`/knowledge-sources/${source.id}/tables`))).tables

check('a table that one daemon synced is queried and asked through the other', async () => {
  assert.equal([await count(a), await count(b)], [2, 2])
  const { answer } = await expectData(b.service.post(`/rag-tools/${tool.id}/query`, { query: 'How many orders are open?' }))
  assert.match(answer, /^\*\*2\*\*/)
})

check('a change that one daemon syncs is in the results of the other', async () => {
  await b.addDocument(source.id, 'orders.csv', 'Order,Status\n1,open\n2,open\n3,open\n4,cancelled\n')
  await b.sync(source.id)
  assert.equal([await count(b), await count(a)], [3, 3])
})

check('the table of a deleted document is gone from all', async () => {
  const { id } = await b.getDocument(source.id, 'orders.csv')
  await expectData(a.service.delete(`/knowledge-sources/${source.id}/documents/${id}`))
  assert.equal([await listTables(a), await listTables(b)], [[], []])
})

test.run()
