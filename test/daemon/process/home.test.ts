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
/** /proc rejects new directories even from root. */
const withProc = process.platform === 'linux' ? test : test.skip
/** /dev/full fails every write with ENOSPC. */
const withFullDevice = existsSync('/dev/full') ? test : test.skip

test.before.each((context) => {
  context.root = mkdtempSync(join(tmpdir(), 'cadre-home-'))
})
test.after.each(({ root }) => rmSync(root, { recursive: true, force: true }))

const getMode = (path: string) => statSync(path).mode & 0o777
const getPaths = (home: string) => homePaths({ CADRE_HOME: home })

function catchRefusal(home: string): CadreError {
  try {
    prepareHome(getPaths(home))
  } catch (error) {
    assert.instance(error, CadreError)
    return error as CadreError
  }
  throw new Error(`${home} was accepted`)
}

test('a missing home is created with private directories', ({ root }) => {
  const paths = getPaths(join(root, 'deep', 'home'))
  prepareHome(paths)
  for (const directory of [paths.home, paths.vectors, paths.documents, paths.work, paths.logs])
    assert.is(getMode(directory), 0o700, directory)
})

test('an existing home and its files become readable by their owner only', ({ root }) => {
  const paths = getPaths(join(root, 'home'))
  mkdirSync(paths.logs, { recursive: true })
  for (const directory of [paths.home, paths.logs]) chmodSync(directory, 0o755)
  const files = [paths.database, `${paths.database}-wal`, paths.token, paths.vaultKey, paths.settings, paths.log, `${paths.log}.1`]
  for (const file of files) {
    writeFileSync(file, 'kept')
    chmodSync(file, 0o644)
  }
  prepareHome(paths)
  for (const directory of [paths.home, paths.logs]) assert.is(getMode(directory), 0o700, directory)
  for (const file of files) {
    assert.is(getMode(file), 0o600, file)
    assert.is(readFileSync(file, 'utf8'), 'kept')
  }
})

test('preparing a home leaves no probe files', ({ root }) => {
  const paths = getPaths(join(root, 'home'))
  prepareHome(paths)
  assert.equal(readdirSync(paths.home).sort(), ['documents', 'logs', 'vectors', 'work'])
})

test('a file in place of the home is rejected with a hint', ({ root }) => {
  const home = join(root, 'file')
  writeFileSync(home, '')
  const error = catchRefusal(home)
  assert.match(error.message, 'must be a directory')
  assert.match(error.hint ?? '', 'CADRE_HOME=')
  assert.match(catchRefusal(join(home, 'below')).message, 'must be a directory')
})

test("the user's home directory and sticky directories like /tmp are rejected as homes", ({ root }) => {
  const shared = join(root, 'shared')
  mkdirSync(shared)
  chmodSync(shared, 0o1777)
  assert.match(catchRefusal(shared).message, 'shared with other programs')
  assert.is(getMode(shared), 0o777)
  assert.match(catchRefusal(homedir()).message, 'shared with other programs')
})

withProc('an unwritable home is rejected with a hint', ({ root }) => {
  const error = catchRefusal('/proc/cadre')
  assert.is(error.code, 'UNAVAILABLE')
  assert.match(error.message, '/proc/cadre')
  assert.match(error.hint ?? '', 'CADRE_HOME=')
  assert.ok(existsSync(root))
})

withFullDevice('a full disk is reported as STORAGE_FULL', ({ root }) => {
  const paths = getPaths(join(root, 'home'))
  prepareHome(paths)
  symlinkSync('/dev/full', join(paths.home, `.probe-${process.pid}`))
  const error = catchRefusal(paths.home)
  assert.is(error.code, 'STORAGE_FULL')
  assert.match(error.message, 'No space left')
})

test('a file is replaced atomically and keeps mode 0600', ({ root }) => {
  const file = join(root, 'daemon.json')
  writeFileSync(file, 'a longer text than the next')
  chmodSync(file, 0o644)
  writeFileAtomically(file, 'short')
  assert.is(readFileSync(file, 'utf8'), 'short')
  assert.is(getMode(file), 0o600)
  assert.equal(readdirSync(root), ['daemon.json'])
})

withFullDevice('a failed write keeps the old file and leaves no temporary file', ({ root }) => {
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
