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

test('a home that does not exist is made, with directories of one user', ({ root }) => {
  const paths = at(join(root, 'deep', 'home'))
  prepareHome(paths)
  for (const directory of [paths.home, paths.vectors, paths.documents, paths.models, paths.work, paths.logs])
    assert.is(mode(directory), 0o700, directory)
})

test('a home and files that others could read are closed to them', ({ root }) => {
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

test('preparing leaves nothing behind', ({ root }) => {
  const paths = at(join(root, 'home'))
  prepareHome(paths)
  assert.equal(readdirSync(paths.home).sort(), ['documents', 'logs', 'models', 'vectors', 'work'])
})

test('a file in the place of the home is refused with a way out', ({ root }) => {
  const home = join(root, 'file')
  writeFileSync(home, '')
  const error = refusal(home)
  assert.match(error.message, 'must be a directory')
  assert.match(error.hint ?? '', 'CADRE_HOME=')
  assert.match(refusal(join(home, 'below')).message, 'must be a directory')
})

test("a directory that others use is not taken over: the user's own, and one like /tmp", ({ root }) => {
  const shared = join(root, 'shared')
  mkdirSync(shared)
  chmodSync(shared, 0o1777)
  assert.match(refusal(shared).message, 'shared with other programs')
  assert.is(mode(shared), 0o777)
  assert.match(refusal(homedir()).message, 'shared with other programs')
})

test('a home that cannot be written is refused with a way out', ({ root }) => {
  // /proc takes no directory from anybody, root included.
  if (process.platform !== 'linux') return
  const error = refusal('/proc/cadre')
  assert.is(error.code, 'UNAVAILABLE')
  assert.match(error.message, '/proc/cadre')
  assert.match(error.hint ?? '', 'CADRE_HOME=')
  assert.ok(existsSync(root))
})

test('a full disk is called a full disk', ({ root }) => {
  if (!existsSync('/dev/full')) return
  const paths = at(join(root, 'home'))
  prepareHome(paths)
  symlinkSync('/dev/full', join(paths.home, `.probe-${process.pid}`))
  const error = refusal(paths.home)
  assert.is(error.code, 'STORAGE_FULL')
  assert.match(error.message, 'No space left')
})

test('a file is replaced whole and stays of one user', ({ root }) => {
  const file = join(root, 'daemon.json')
  writeFileSync(file, 'a longer text than the next')
  chmodSync(file, 0o644)
  writeFileAtomically(file, 'short')
  assert.is(readFileSync(file, 'utf8'), 'short')
  assert.is(mode(file), 0o600)
  assert.equal(readdirSync(root), ['daemon.json'])
})

test('a file that cannot be written leaves the old one and no draft', ({ root }) => {
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
