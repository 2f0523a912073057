import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openLance } from '../../daemon/store/lance.ts'

const test = suite('lance')
const folder = mkdtempSync(join(tmpdir(), 'cadre-lance-'))
const versions = join(folder, '__manifest', '_versions')
test.after(() => rmSync(folder, { recursive: true, force: true }))

test('a damaged catalog is created again; other errors leave it as it is', async () => {
  const { database } = await openLance(folder)
  await database.createTable('a', [{ id: 1 }])
  database.close()
  const [file = ''] = readdirSync(versions).filter((name) => name.endsWith('.manifest'))
  const failure = new Error('Too many open files (os error 24)')
  const error = await openLance(folder, { connect: () => Promise.reject(failure) }).catch((reason) => reason)
  assert.is(error, failure)
  assert.ok(existsSync(join(versions, file)))
  const content = readFileSync(join(versions, file))
  content.subarray(content.length >> 2, content.length >> 1).fill(0x5a)
  writeFileSync(join(versions, file), content)
  const again = await openLance(folder)
  assert.equal(await again.database.tableNames(), ['a'])
  again.database.close()
})

test.run()
