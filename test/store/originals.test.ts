import { hash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { FolderOriginals } from '../../daemon/store/objects/folder-originals.ts'
import { DamagedOriginalError, loadContent } from '../../daemon/store/original-store.ts'

const test = suite<{ root: string; originals: FolderOriginals }>('originals')

test.before.each((context) => {
  context.root = mkdtempSync(join(tmpdir(), 'cadre-originals-'))
  context.originals = new FolderOriginals(context.root)
})
test.after.each(({ root }) => rmSync(root, { recursive: true, force: true }))

const content = Buffer.from('the same bytes')
const contentHash = hash('sha256', content, 'hex')
const getPath = (root: string) => join(root, contentHash.slice(0, 2), contentHash)
const listFiles = (root: string) => readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())

test('originals are stored by content hash with mode 0600', async ({ root, originals }) => {
  assert.is(await originals.keep(content, async (contentHash) => contentHash), contentHash)
  assert.equal(await originals.read(contentHash), content)
  assert.is(statSync(getPath(root)).mode & 0o777, 0o600)
  assert.is(statSync(join(root, contentHash.slice(0, 2))).mode & 0o777, 0o700)
})

test('identical originals are stored once, also concurrently', async ({ root, originals }) => {
  await Promise.all(Array.from({ length: 20 }, () => originals.keep(content, async () => undefined)))
  assert.is(listFiles(root).length, 1)
})

test('an original is on disk before it is recorded', async ({ root, originals }) => {
  await originals.keep(content, async () => assert.ok(existsSync(getPath(root))))
})

test('an original whose content does not match its hash is not read, and is written again', async ({ root, originals }) => {
  await originals.keep(content, async () => undefined)
  writeFileSync(getPath(root), 'the same_bytes')
  let error: unknown
  await originals.read(contentHash).catch((thrown: unknown) => {
    error = thrown
  })
  assert.instance(error, DamagedOriginalError)
  await originals.keep(content, async () => undefined)
  assert.equal(await originals.read(contentHash), content)
})

test('another process gets the bytes of a small original and the path of a large one, if it is intact', async ({ root, originals }) => {
  await originals.keep(content, async () => undefined)
  assert.equal(await originals.provide(contentHash), content)
  const large = Buffer.alloc(2 * 1024 * 1024, 'a')
  const hashOfLarge = await originals.keep(large, async (contentHash) => contentHash)
  const path = await originals.provide(hashOfLarge)
  assert.is(path, join(root, hashOfLarge.slice(0, 2), hashOfLarge))
  assert.equal(await loadContent(path), large)
  large[1_500_000] = 0
  writeFileSync(path as string, large)
  let error: unknown
  await originals.provide(hashOfLarge).catch((thrown: unknown) => {
    error = thrown
  })
  assert.instance(error, DamagedOriginalError)
})

test('a released original is deleted unless it is still in use', async ({ root, originals }) => {
  await originals.keep(content, async () => undefined)
  await originals.release(contentHash, async () => true)
  assert.ok(existsSync(getPath(root)))
  await originals.release(contentHash, async () => false)
  assert.not.ok(existsSync(getPath(root)))
  await originals.release(contentHash, async () => false)
})

test('an original that is being recorded is not deleted', async ({ root, originals }) => {
  let used = false
  const keeping = originals.keep(content, async () => {
    await new Promise((resolve) => setTimeout(resolve, 20))
    used = true
  })
  await originals.release(contentHash, async () => used)
  await keeping
  assert.ok(existsSync(getPath(root)))
})

test('a truncated original is written again', async ({ root, originals }) => {
  mkdirSync(join(root, contentHash.slice(0, 2)))
  writeFileSync(getPath(root), 'the same')
  await originals.keep(content, async () => undefined)
  assert.equal(await originals.read(contentHash), content)
})

test('leftovers of a crash are removed, and nothing else', async ({ root, originals }) => {
  await originals.keep(content, async () => undefined)
  await originals.keep(Buffer.from('orphan'), async () => undefined)
  writeFileSync(`${getPath(root)}.half-written`, 'x')
  writeFileSync(join(root, 'README'), 'not ours')
  await originals.removeUnused(new Set([contentHash]))
  assert.equal(
    listFiles(root)
      .map((entry) => entry.name)
      .sort(),
    [contentHash, 'README'].sort(),
  )
})

test('a failed recording rejects without blocking others', async ({ originals }) => {
  let error: Error | undefined
  await originals
    .keep(content, () => Promise.reject(new Error('no room')))
    .catch((thrown: Error) => {
      error = thrown
    })
  assert.is(error?.message, 'no room')
  assert.is(await originals.keep(content, async () => 'kept'), 'kept')
})

test.run()
