import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { gzipSync } from 'node:zlib'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { isBackupName } from '../../../src/backup/format.ts'
import { createHeader, createTrailer } from '../../../src/backup/tar.ts'
import { checkDatabase } from '../../../src/cli/backup/check-contents.ts'
import { requireEmptyHome, restoreHome } from '../../../src/cli/backup/restore-home.ts'
import { verifyBackup } from '../../../src/cli/backup/verify-backup.ts'
import { homePaths } from '../../../src/config.ts'
import { createArchive, createDatabase, createEntry, createManifest, type Files } from './create-archive.ts'

const test = suite<{ root: string }>('reading backups')

test.before.each((context) => {
  context.root = mkdtempSync(join(tmpdir(), 'cadre-backup-'))
})
test.after.each(({ root }) => rmSync(root, { recursive: true, force: true }))

function setChecksum(header: Buffer): void {
  header.fill(' ', 148, 156)
  header.write(
    `${header
      .reduce((sum, byte) => sum + byte, 0)
      .toString(8)
      .padStart(6, '0')}\0 `,
    148,
  )
}

async function restore(root: string, archive: Buffer): Promise<string | undefined> {
  const file = join(root, 'backup.tar.gz')
  writeFileSync(file, archive)
  const paths = homePaths({ CADRE_HOME: join(root, 'home') })
  const error = await restoreHome(file, paths, () => {}).then(
    () => undefined,
    (thrown: Error) => thrown.message,
  )
  if (error !== undefined) assert.equal(readdirSync(paths.home), [], 'a rejected backup leaves an empty home')
  return error
}

const DATABASE = createDatabase()
const DOCUMENT = `documents/ab/${'ab'.repeat(32)}`
const HOME: Files = { 'cadre.db': DATABASE, 'vault.json': '{"location":"file","fingerprint":"1"}', [DOCUMENT]: Buffer.alloc(5000, 7) }

test('a database is recognised in parts of any size, and one without the tables of a home is not', async () => {
  const read = async (database: Buffer, size: number) => {
    const parts = Array.from({ length: Math.ceil(database.length / size) }, (_, at) => database.subarray(at * size, (at + 1) * size))
    for await (const _ of checkDatabase(Readable.from(parts)));
  }
  for (const size of [1, 7, 205, 512]) {
    await read(DATABASE, size)
    const error = await read(createDatabase('others'), size).catch(({ message }: Error) => message)
    assert.is(error, 'its cadre.db does not have the tables of a home', `parts of ${size} bytes`)
  }
})

test('a backup is restored with private files, only into an empty home', async ({ root }) => {
  const paths = homePaths({ CADRE_HOME: join(root, 'home') })
  requireEmptyHome(paths)
  assert.is(await restore(root, gzipSync(createArchive(HOME))), undefined)
  assert.equal(readdirSync(paths.home).sort(), ['cadre.db', 'documents', 'vault.json'])
  assert.ok(readFileSync(join(paths.home, DOCUMENT)).equals(HOME[DOCUMENT] as Buffer))
  for (const name of ['', 'cadre.db', 'documents', DOCUMENT]) assert.is(statSync(join(paths.home, name)).mode & 0o077, 0, name)
  assert.throws(() => requireEmptyHome(paths), /not empty/)
})

test('a backup that is cut off or changed anywhere is rejected', async ({ root }) => {
  const archive = createArchive(HOME)
  const packed = gzipSync(archive)
  assert.match((await restore(root, packed.subarray(0, packed.length / 2))) ?? '', /incomplete/)
  assert.match((await restore(root, gzipSync(archive.subarray(0, 1024)))) ?? '', /incomplete/)
  assert.match((await restore(root, gzipSync(createArchive(HOME, Buffer.alloc(0))))) ?? '', /manifest is missing/)
  const changed = Buffer.from(archive)
  changed[512 + DATABASE.length - 1] = 1
  assert.match((await restore(root, gzipSync(changed))) ?? '', /checksum of "cadre.db" is wrong/)
  assert.match((await restore(root, Buffer.from('not a backup'))) ?? '', /damaged/)
  assert.match((await restore(root, gzipSync('not a tar archive'.repeat(100)))) ?? '', /not a tar archive/)
})

test('paths to the outside, links, unknown files, repetitions and unlisted files are rejected', async ({ root }) => {
  for (const name of [
    '../evil',
    '/etc/passwd',
    'documents/../../evil',
    'vectors/../x',
    'vectors/./x',
    'bin/x',
    'documents/ab/x',
    'cadre.db-wal',
  ])
    assert.match((await restore(root, gzipSync(createArchive({ 'cadre.db': DATABASE, [name]: 'x' })))) ?? '', /not part of a home/, name)
  assert.not.ok(existsSync(join(root, 'evil')))
  for (const type of ['1', '2', '3', '5', 'x', 'L']) {
    const link = createEntry('cadre.db', '', (header) => {
      header.write(type, 156)
      header.write('/etc/passwd', 157)
      setChecksum(header)
    })
    assert.match((await restore(root, gzipSync(link))) ?? '', /not a plain file/, type)
  }
  const twice = Buffer.concat([createEntry('cadre.db', DATABASE), createArchive({ 'cadre.db': DATABASE })])
  assert.match((await restore(root, gzipSync(twice))) ?? '', /twice/)
  const unlisted = createArchive(HOME, createManifest({ 'cadre.db': DATABASE }))
  assert.match((await restore(root, gzipSync(unlisted))) ?? '', /differ from its manifest/)
  for (const fields of [{ files: [null] }, { created_at: {} }, { home: 5 }]) {
    const invalid = createArchive(HOME, createManifest(HOME, fields))
    assert.match((await restore(root, gzipSync(invalid))) ?? '', /manifest is invalid/)
  }
  for (const vault of ['null', '[]', '{"location":"moon","fingerprint":"1"}', '{"location":"file"}', 'x'])
    assert.match((await restore(root, gzipSync(createArchive({ ...HOME, 'vault.json': vault })))) ?? '', /its vault\.json /, vault)
  const values = ['"url":5', '"start":"no"', '"url":"ftp://x"', '"token":"two words"', '"database-url":"x"', '"storage-url":"x"']
  const settings = ['{', 'null', '[]', '"x"', ...values.map((value) => `{${value}}`)].map((text) => ['config.json', text] as const)
  const others = [
    ['token', 'two words'],
    ['token', ''],
    ['vault.key', 'short'],
    ['cadre.db', ''],
    ['cadre.db', 'SQLite'],
    ['cadre.db', 'records'],
    ['cadre.db', DATABASE.subarray(0, 50)],
    ['cadre.db', DATABASE.subarray(0, 500)],
    ['cadre.db', Buffer.concat([DATABASE, DATABASE])],
    ['cadre.db', createDatabase('others')],
  ] as const
  for (const [name, text] of [...settings, ...others])
    assert.match((await restore(root, gzipSync(createArchive({ ...HOME, [name]: text })))) ?? '', `its ${name} `, `${name} ${text}`)
  const late = Buffer.concat([
    createEntry('cadre.db', DATABASE),
    createManifest({ 'cadre.db': DATABASE }),
    createEntry('token', 'x'),
    createTrailer(),
  ])
  assert.match((await restore(root, gzipSync(late))) ?? '', /after the manifest/)
  assert.match((await restore(root, gzipSync(createArchive({ token: 'x' })))) ?? '', /does not contain cadre.db/)
})

test('an archive that expands enormously, a large key and a newer format are rejected', async ({ root }) => {
  const bomb = gzipSync(createArchive({ 'cadre.db': Buffer.concat([DATABASE, Buffer.alloc(80 * 1024 ** 2)]) }), { level: 9 })
  assert.match((await restore(root, bomb)) ?? '', /200 times/)
  assert.match(
    (await restore(root, gzipSync(createArchive({ 'cadre.db': DATABASE, token: Buffer.alloc(17 * 1024 ** 2) })))) ?? '',
    /too large/,
  )
  const newer = createArchive({ 'cadre.db': DATABASE }, createManifest({ 'cadre.db': DATABASE }, { format: 2, version: '9.0.0' }))
  assert.match((await restore(root, gzipSync(newer))) ?? '', /newer version of Cadre \(9\.0\.0\)/)
})

test('verifying writes nothing', async ({ root }) => {
  const file = join(root, 'backup.tar.gz')
  writeFileSync(file, gzipSync(createArchive(HOME)))
  assert.is((await verifyBackup(file, { report: () => {} })).files.length, 3)
  assert.equal(readdirSync(root), ['backup.tar.gz'])
})

test('names of indexes are part of a backup, up to a length', () => {
  assert.ok(isBackupName('vectors/index_1.lance/_versions/1.manifest'))
  assert.ok(isBackupName('vectors/index_1.lance/data/3f-1.lance'))
  assert.not.ok(isBackupName(`vectors/${'x'.repeat(300)}`))
  const long = `vectors/${'i'.repeat(90)}.lance/data/${'d'.repeat(60)}.lance`
  assert.is(createHeader(long, 1, new Date(0)).toString('latin1', 345, 345 + 20), `vectors/${'i'.repeat(12)}`)
})

test.run()
