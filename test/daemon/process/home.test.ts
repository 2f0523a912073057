import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { prepareHome, writeFileAtomically } from '../../../daemon/process/home.ts'
import { homePaths } from '../../../src/config.ts'
import { CadreError } from '../../../src/contract/errors.ts'

const test = suite<{ root: string }>('home')

test.before.each((context) => {
  context.root = mkdtempSync(join(tmpdir(), 'cadre-home-'))
})
test.after.each(({ root }) => rmSync(root, { recursive: true, force: true }))

const mode = (path: string) => statSync(path).mode & 0o777
const at = (home: string) => homePaths({ CADRE_HOME: home })

function refusal(home: string): CadreError {
  try {
    prepareHome(at(home))
  } catch (error) {
    assert.instance(error, CadreError)
    return error as CadreError
  }
  throw new Error(`${home} was accepted`)
}

test('a missing home is created with private directories', ({ root }) => {
  const paths = at(join(root, 'deep', 'home'))
  prepareHome(paths)
  for (const directory of [paths.home, paths.vectors, paths.documents, paths.models, paths.work, paths.logs])
    assert.is(mode(directory), 0o700, directory)
})

test('an existing home and its files become readable by their owner only', ({ root }) => {
  const paths = at(join(root, 'home'))
  mkdirSync(paths.logs, { recursive: true })
  for (const directory of [paths.home, paths.logs]) chmodSync(directory, 0o755)
  const files = [paths.database, `${paths.database}-wal`, paths.token, paths.vaultKey, paths.settings, paths.log, `${paths.log}.1`]
  for (const file of files) {
    writeFileSync(file, 'kept')
    chmodSync(file, 0o644)
  }
  prepareHome(paths)
  for (const directory of [paths.home, paths.logs]) assert.is(mode(directory), 0o700, directory)
  for (const file of files) {
    assert.is(mode(file), 0o600, file)
    assert.is(readFileSync(file, 'utf8'), 'kept')
  }
})

test('preparing a home leaves no probe files', ({ root }) => {
  const paths = at(join(root, 'home'))
  prepareHome(paths)
  assert.equal(readdirSync(paths.home).sort(), ['documents', 'logs', 'models', 'vectors', 'work'])
})

test('a file in place of the home is rejected with a hint', ({ root }) => {
  const home = join(root, 'file')
  writeFileSync(home, '')
  const error = refusal(home)
  assert.match(error.message, 'must be a directory')
  assert.match(error.hint ?? '', 'CADRE_HOME=')
  assert.match(refusal(join(home, 'below')).message, 'must be a directory')
})

test("the user's home directory and sticky directories like /tmp are rejected as homes", ({ root }) => {
  const shared = join(root, 'shared')
  mkdirSync(shared)
  chmodSync(shared, 0o1777)
  assert.match(refusal(shared).message, 'shared with other programs')
  assert.is(mode(shared), 0o777)
  assert.match(refusal(homedir()).message, 'shared with other programs')
})

test('an unwritable home is rejected with a hint', ({ root }) => {
  // /proc takes no directory from anybody, root included.
  if (process.platform !== 'linux') return
  const error = refusal('/proc/cadre')
  assert.is(error.code, 'UNAVAILABLE')
  assert.match(error.message, '/proc/cadre')
  assert.match(error.hint ?? '', 'CADRE_HOME=')
  assert.ok(existsSync(root))
})

test('a full disk is reported as STORAGE_FULL', ({ root }) => {
  if (!existsSync('/dev/full')) return
  const paths = at(join(root, 'home'))
  prepareHome(paths)
  symlinkSync('/dev/full', join(paths.home, `.probe-${process.pid}`))
  const error = refusal(paths.home)
  assert.is(error.code, 'STORAGE_FULL')
  assert.match(error.message, 'No space left')
})

test('a file is replaced atomically and keeps mode 0600', ({ root }) => {
  const file = join(root, 'daemon.json')
  writeFileSync(file, 'a longer text than the next')
  chmodSync(file, 0o644)
  writeFileAtomically(file, 'short')
  assert.is(readFileSync(file, 'utf8'), 'short')
  assert.is(mode(file), 0o600)
  assert.equal(readdirSync(root), ['daemon.json'])
})

test('a failed write keeps the old file and leaves no temporary file', ({ root }) => {
  if (!existsSync('/dev/full')) return
  const file = join(root, 'token')
  writeFileSync(file, 'old')
  symlinkSync('/dev/full', `${file}.${process.pid}.new`)
  assert.throws(
    () => writeFileAtomically(file, 'new'),
    (error: CadreError) => error.code === 'STORAGE_FULL',
  )
  assert.is(readFileSync(file, 'utf8'), 'old')
  assert.equal(readdirSync(root), ['token'])
})

test.run()
