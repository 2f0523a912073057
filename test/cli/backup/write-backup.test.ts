import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openDatabase } from '../../../daemon/store/database.ts'
import { writeBackup } from '../../../daemon/system/backup/write-backup.ts'
import { verifyBackup } from '../../../src/cli/backup/verify-backup.ts'
import { homePaths } from '../../../src/config.ts'

const test = suite('writing backups')

test('text is compressed, documents that do not become smaller are stored, and tar reads both', async () => {
  const root = mkdtempSync(join(tmpdir(), 'cadre-backup-'))
  const paths = homePaths({ CADRE_HOME: join(root, 'home') })
  mkdirSync(paths.home)
  const database = openDatabase(paths.database)
  await database.write((transaction) => transaction.run('CREATE TABLE migrations (name TEXT)'))
  await database.write((transaction) => transaction.run("CREATE TABLE kept AS SELECT 'in the log only' AS text"))
  const documents = [Buffer.from('Everyone gets leave. '.repeat(150_000)), randomBytes(3_000_000), Buffer.from('short')]
  const names = documents.map((_, index) => `documents/a${index}/${`a${index}`.repeat(32)}`)
  for (const [index, content] of documents.entries()) {
    const path = join(paths.home, names[index] as string)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, content)
  }
  const target = join(root, 'backup.tar.gz')
  const progress: number[] = []
  const temporary = { target, partial: join(root, 'partial'), snapshot: join(root, 'snapshot') }
  const written = await writeBackup({ ...paths, ...temporary, includeIndex: false, version: '0.1.0' }, (bytes) => progress.push(bytes))
  await database.close()
  assert.is(written.size, statSync(target).size)
  assert.is(written.files, 4)
  assert.ok(written.size > 3_000_000 && written.size < 3_200_000, `${written.size} bytes`)
  assert.is((await verifyBackup(target, { report: () => {} })).files.length, 4)
  const unpacked = join(root, 'unpacked')
  mkdirSync(unpacked)
  execFileSync('tar', ['-xzf', target, '-C', unpacked])
  for (const [index, content] of documents.entries()) assert.ok(readFileSync(join(unpacked, names[index] as string)).equals(content))
  const copy = openDatabase(join(unpacked, 'cadre.db'))
  assert.equal(await copy.all('SELECT text FROM kept'), [{ text: 'in the log only' }])
  await copy.close()
  rmSync(root, { recursive: true })
})

test.run()
