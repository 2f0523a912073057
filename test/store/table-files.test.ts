import { appendFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { TableFiles } from '../../daemon/store/files/table-files.ts'

const test = suite('files of tables')
const folder = mkdtempSync(join(tmpdir(), 'cadre-table-files-'))
const [vectors, record] = [join(folder, 'vectors'), join(folder, 'record')]
const manifest = join(vectors, 'trees.lance', '_versions', '1.manifest')
const open = (basis = '1.0') => new TableFiles(vectors, record, basis)

test.before.each(() => {
  rmSync(vectors, { recursive: true, force: true })
  mkdirSync(join(vectors, 'trees.lance', '_versions'), { recursive: true })
  writeFileSync(manifest, 'oak')
})
test.after(() => rmSync(folder, { recursive: true, force: true }))

test('unchanged files need no check after a stop, but one after a kill', async () => {
  await open().recordStop()
  assert.ok(await open().takeStopRecord())
  assert.not(existsSync(record))
  assert.not(await open().takeStopRecord())
})

test('another version checks the tables', async () => {
  await open('1.0').recordStop()
  assert.not(await open('1.1').takeStopRecord())
})

const CHANGES: Record<string, () => void> = {
  changed: () => appendFileSync(manifest, 'elm'),
  removed: () => rmSync(manifest),
  added: () => writeFileSync(join(vectors, 'trees.lance', 'data'), ''),
}

for (const [what, change] of Object.entries(CHANGES))
  test(`a file that was ${what} after the stop is noticed`, async () => {
    await open().recordStop()
    change()
    assert.not(await open().takeStopRecord())
  })

test('tables are listed and flushed, also while LanceDB removes old versions', async () => {
  const files = open()
  assert.equal(await files.listTables(), ['trees'])
  const flushed = files.flush('trees')
  rmSync(manifest)
  await flushed
  await files.flush('no such table')
  await files.removeTable('trees')
  assert.equal(await files.listTables(), [])
})

test.run()
