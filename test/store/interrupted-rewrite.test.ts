import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { TableFiles } from '../../daemon/store/files/table-files.ts'
import { openLance } from '../../daemon/store/lance.ts'
import { VectorStore } from '../../daemon/store/vector-store.ts'

const PAGE_BYTES = 4_096
const DOCUMENTS = ['oak', 'elm', 'ash', 'fir']
const SCHEMA = { columns: { document_id: 'text', generation: 'integer', content: 'text' }, keys: ['document_id'] } as const

const test = suite('a power cut while a table is rewritten')
let folder = ''
const open = () => {
  const store = new VectorStore(folder)
  return { store, table: store.table('trees', SCHEMA) }
}
const readAll = async ({ table }: ReturnType<typeof open>) =>
  (await table.list({ document_id: DOCUMENTS }, ['document_id', 'content'])).map((row) => `${row.document_id} ${row.content}`).sort()
const listData = () => readdirSync(join(folder, 'trees.lance', 'data'))

/** Each document is a file of its own, until LanceDB merges them. */
async function fill(): Promise<string[]> {
  const opened = open()
  for (const document of DOCUMENTS)
    await opened.table.add([{ document_id: document, generation: 1, content: `${document} `.repeat(PAGE_BYTES) }])
  const rows = await readAll(opened)
  await opened.store.close()
  return rows
}

/** LanceDB has named the new files, of which the disk has kept the beginning and the end. */
async function interruptRewrite(cleanupOlderThan: Date): Promise<void> {
  await new TableFiles(folder, undefined, '').beginRewrite('trees')
  const before = listData()
  const { database } = await openLance(folder)
  await (await database.openTable('trees')).optimize({ cleanupOlderThan, deleteUnverified: true })
  database.close()
  const [created = ''] = listData().filter((name) => !before.includes(name))
  const path = join(folder, 'trees.lance', 'data', created)
  const bytes = readFileSync(path)
  writeFileSync(path, bytes.fill(0, PAGE_BYTES, bytes.length - PAGE_BYTES))
}

test.before.each(() => {
  folder = mkdtempSync(join(tmpdir(), 'cadre-rewrite-'))
})
test.after.each(() => rmSync(folder, { recursive: true, force: true }))

test('returns to the version before, and later commits are kept', async () => {
  const rows = await fill()
  await interruptRewrite(new Date(0))
  const damaged = open()
  assert.is(await damaged.table.countReadableRows(), DOCUMENTS.length, 'counting the rows does not show the damage')
  await damaged.store.close()

  const restarted = open()
  await restarted.store.compareWithStop()
  assert.equal(await readAll(restarted), rows)
  await restarted.table.optimize()
  await restarted.table.remove({ document_id: 'fir' })
  await restarted.store.close()

  const later = open()
  await later.store.compareWithStop()
  const kept = rows.filter((row) => !row.startsWith('fir'))
  assert.equal(await readAll(later), kept)
  await later.store.close()
})

test('removes a table whose version before is gone, so that it is built again', async () => {
  await fill()
  await interruptRewrite(new Date())
  const restarted = open()
  await restarted.store.compareWithStop()
  assert.equal(await restarted.store.listNames(), [])
  await restarted.store.close()
})

test('changes nothing if the power was cut before the rewrite', async () => {
  const rows = await fill()
  writeFileSync(join(folder, 'trees.rewriting'), '\0'.repeat(30))
  const restarted = open()
  await restarted.store.compareWithStop()
  assert.equal(await readAll(restarted), rows)
  assert.not(readdirSync(folder).includes('trees.rewriting'))
  await restarted.store.close()
})

test.run()
