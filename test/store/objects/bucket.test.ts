import { hash, randomBytes } from 'node:crypto'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { type Database, type DatabaseReader, openDatabase } from '../../../daemon/store/database.ts'
import { migrate } from '../../../daemon/store/migrate.ts'
import { BucketOriginals, formatKey } from '../../../daemon/store/objects/bucket-originals.ts'
import { DiskCache } from '../../../daemon/store/objects/disk-cache.ts'
import { openBucket, type Storage } from '../../../daemon/store/objects/open-bucket.ts'
import { S3Client } from '../../../daemon/store/objects/s3-client.ts'
import { DamagedOriginalError } from '../../../daemon/store/original-store.ts'
import type { VectorStore } from '../../../daemon/store/vector-store.ts'
import type { CadreError } from '../../../src/contract/errors.ts'
import { reportFailure } from '../../harness/hooks.ts'
import { BUCKET, isCephInstalled, ObjectStore } from '../../harness/object-store/start-object-store.ts'
import { findFreePort } from '../../harness/sqld/start-sqld.ts'
import { waitFor } from '../../harness/wait-for.ts'
import { StorageProxy } from './storage-proxy.ts'

const suiteWithStore = suite('documents and vectors in a bucket')
const test = isCephInstalled() ? suiteWithStore : suiteWithStore.skip

const folder = mkdtempSync(join(tmpdir(), 'cadre-bucket-'))
let store: ObjectStore
let prefixes = 0

suiteWithStore.before(
  reportFailure(async () => {
    if (isCephInstalled()) store = await ObjectStore.start()
  }),
)
suiteWithStore.after(() => {
  store?.remove()
  rmSync(folder, { recursive: true, force: true })
})

const createStorage = (): Storage => ({ ...store.address, url: `s3://${BUCKET}/prefix-${++prefixes}`, cacheBytes: 1_000_000 })

async function openRecords(name: string): Promise<Database> {
  const database = openDatabase(join(folder, `${name}.db`))
  await migrate(database)
  return database
}

const rejects = async (work: Promise<unknown>): Promise<CadreError> => {
  const outcome = await work.then(
    () => undefined,
    (error: unknown) => error,
  )
  assert.instance(outcome, Error)
  return outcome as CadreError
}

/** Stores the originals of two daemons with caches of their own. */
async function withOriginals(
  work: (first: BucketOriginals, second: BucketOriginals, client: S3Client, database: Database) => Promise<void>,
): Promise<void> {
  const client = new S3Client(createStorage())
  const database = await openRecords(`originals-${prefixes}`)
  const open = async (name: string) =>
    new BucketOriginals(client, await DiskCache.open(join(folder, `${name}-${prefixes}`), 1_000_000), database)
  await work(await open('first'), await open('second'), client, database)
  await database.close()
}

const content = Buffer.from('What is kept.')
const contentHash = hash('sha256', content, 'hex')
const UNUSED = async () => false

test('an original is stored under its hash and read by every daemon', async () => {
  await withOriginals(async (first, second, client) => {
    assert.not(await first.hasAny())
    assert.is(await first.keep(content, async (contentHash) => contentHash), contentHash)
    assert.equal(await client.get(formatKey(contentHash)), content)
    assert.ok(await second.hasAny())
    assert.equal(await second.read(contentHash), content)
  })
})

test('an original is read from the local copy, and again from the bucket if the copy is damaged', async () => {
  await withOriginals(async (first, second, client) => {
    await first.keep(content, async () => undefined)
    await second.read(contentHash)
    await client.delete(formatKey(contentHash))
    assert.equal(await second.read(contentHash), content)
    await client.put(formatKey(contentHash), Buffer.from('something else'))
    writeFileSync(join(folder, `second-${prefixes}`, 'documents', contentHash), 'damaged')
    assert.instance(await rejects(second.read(contentHash)), DamagedOriginalError)
    assert.is((await rejects(second.read('0'.repeat(64)))).code as string, 'ENOENT')
  })
})

test('a released original is removed unless it is in use', async () => {
  await withOriginals(async (first, second, client) => {
    await first.keep(content, async () => undefined)
    await second.release(contentHash, async () => true)
    assert.ok(await client.get(formatKey(contentHash)))
    await second.release(contentHash, UNUSED)
    assert.is(await client.get(formatKey(contentHash)), undefined)
  })
})

test('an original that another daemon removes before it is recorded is stored again under another key', async () => {
  await withOriginals(async (first, second, client) => {
    await first.keep(content, async () => undefined)
    let calls = 0
    const database = await openRecords(`originals-${prefixes}`)
    await first.keep(content, async (_, confirm) => {
      if (++calls === 1) await second.release(contentHash, UNUSED)
      await database.write((transaction) => confirm(transaction))
    })
    await database.close()
    assert.is(calls, 2)
    assert.equal(await client.get(formatKey(contentHash, 1)), content)
    await client.delete(formatKey(contentHash)) // a removal that arrives late
    assert.equal(await second.read(contentHash), content)
  })
})

test('leftovers of a crash are removed, and nothing else', async () => {
  await withOriginals(async (first, second, client) => {
    for (const bytes of [content, Buffer.from('orphan')]) await first.keep(bytes, async () => undefined)
    const isInUse = async (hash: string, _?: DatabaseReader) => hash === contentHash
    await second.removeUnused(new Set([contentHash]), isInUse)
    const keys: string[] = []
    for await (const { key } of client.list('documents/')) keys.push(key)
    assert.equal(keys, [formatKey(contentHash)])
  })
})

test('removals are forgotten after a month, unless the content is stored or used again', async () => {
  await withOriginals(async (first, _, __, database) => {
    const texts = ['gone', 'recent', 'stored', 'used']
    const hashes = texts.map((text) => hash('sha256', text, 'hex'))
    const [gone = '', recent = '', stored = '', used = ''] = hashes
    const keep = (text: string) => first.keep(Buffer.from(text), async () => undefined)
    for (const text of texts) await keep(text)
    for (const each of hashes) await first.release(each, UNUSED)
    await database.write((transaction) => transaction.run('UPDATE original_removals SET removed_at = 0 WHERE content_hash <> ?', [recent]))
    await keep('stored')
    await first.removeUnused(new Set([stored, used]), async (contentHash) => contentHash === used)
    const left = (await database.all<{ content_hash: string }>('SELECT * FROM original_removals')).map(({ content_hash }) => content_hash)
    assert.equal([left.includes(gone), left.sort()], [false, [recent, stored, used].sort()])
  })
})

test('the cache stays below its limit and removes what was used longest ago', async () => {
  const client = new S3Client(createStorage())
  const cacheFolder = join(folder, `small-${prefixes}`)
  const cache = await DiskCache.open(cacheFolder, 250)
  const database = await openRecords(`cache-${prefixes}`)
  const originals = new BucketOriginals(client, cache, database)
  const hashes: string[] = []
  for (let count = 0; count < 3; count++) hashes.push(await originals.keep(randomBytes(100), async (hash) => hash))
  assert.equal(
    hashes.map((hash) => existsSync(join(cacheFolder, 'documents', hash))),
    [false, true, true],
  )
  await originals.read(hashes[1] as string)
  await originals.read(hashes[0] as string) // from the bucket
  assert.equal(
    hashes.map((hash) => existsSync(join(cacheFolder, 'documents', hash))),
    [true, true, false],
  )
  const again = await DiskCache.open(cacheFolder, 150)
  assert.is(hashes.filter((hash) => again.has(`documents/${hash}`)).length, 1)
  await database.close()
})

test('lists have more than one page, and keys may contain any character', async () => {
  const client = new S3Client(createStorage())
  const names = [...Array.from({ length: 1_005 }, (_, number) => `many/${String(number).padStart(4, '0')}`), "odd/a b&c<d>'ü+%.txt"]
  for (let from = 0; from < names.length; from += 50)
    await Promise.all(names.slice(from, from + 50).map((name) => client.put(name, content)))
  const found: string[] = []
  for await (const { key } of client.list('')) found.push(key)
  assert.equal(found, [...names].sort())
  assert.equal(await client.get(names.at(-1) as string), content)
})

test('addresses and keys that are wrong are explained', async () => {
  const storage = createStorage()
  const measure = (changes: Partial<Storage>) => rejects(new S3Client({ ...storage, ...changes }).measureLatency())
  assert.match((await measure({ secretAccessKey: 'wrong' })).message, /rejects the request: SignatureDoesNotMatch/)
  assert.match((await measure({ url: 's3://no-such-bucket/a' })).message, /The bucket of s3:\/\/no-such-bucket\/a does not exist/)
  const unreachable = await measure({ endpoint: `http://127.0.0.1:${await findFreePort()}` })
  assert.match(unreachable.message, /cannot be reached/)
  assert.is(unreachable.retryAfterSeconds, 1)
})

test('a bucket belongs to one database', async () => {
  const storage = createStorage()
  const [first, second] = [await openRecords('owner'), await openRecords('stranger')]
  const { vectors } = await openBucket(storage, first, join(folder, 'owner'))
  await vectors.close()
  await (await openBucket(storage, first, join(folder, 'owner'))).vectors.close()
  assert.match((await rejects(openBucket(storage, second, join(folder, 'stranger')))).message, /holds the documents of another database/)
  await Promise.all([first.close(), second.close()])
})

const SCHEMA = { columns: { id: 'text', words: 'text', page: 'integer' }, keys: ['id'], fullTextColumn: 'words' } as const
const rows = (from: number, count: number) =>
  Array.from({ length: count }, (_, number) => ({ id: `row-${from + number}`, words: `word number${from + number}`, page: 1 }))

async function openVectors(storage: Storage, name: string): Promise<{ vectors: VectorStore; database: Database }> {
  const database = await openRecords(`vectors-${prefixes}`)
  return { vectors: (await openBucket(storage, database, join(folder, `${name}-${prefixes}`))).vectors, database }
}

test('another daemon sees commits, also of a table that is created, dropped and created again', async () => {
  const storage = createStorage()
  const [writer, reader] = [await openVectors(storage, 'writer'), await openVectors(storage, 'reader')]
  const waitForRow = (id: string) =>
    waitFor(async () => (await reader.vectors.table('passages', SCHEMA).list({ id }, ['id', 'page'])).length > 0)
  assert.equal(await reader.vectors.table('passages', SCHEMA).list({ id: 'row-0' }, ['id']), [])
  const table = writer.vectors.table('passages', SCHEMA)
  for (const from of [0, 100, 200]) {
    await table.add(rows(from, 100))
    if (from === 100) await table.optimize()
    await waitForRow(`row-${from + 99}`)
  }
  assert.equal((await reader.vectors.table('passages', SCHEMA).searchText('number150', { columns: ['id'], limit: 5 }))[0]?.id, 'row-150')
  assert.ok(existsSync(join(folder, `reader-${prefixes}`, 'vectors', 'passages.lance')))
  // The writer sees its own commit at once.
  assert.is((await table.list({ id: 'row-299' }, ['id'])).length, 1)
  await writer.vectors.drop('passages')
  await writer.vectors.table('passages', SCHEMA).add(rows(1_000, 10))
  await waitForRow('row-1005')
  assert.is((await reader.vectors.table('passages', SCHEMA).list({ id: 'row-5' }, ['id'])).length, 0)
  for (const { vectors, database } of [writer, reader]) await Promise.all([vectors.close(), database.close()])
})

test('a table that does not fit in the cache is read from the bucket', async () => {
  const storage = { ...createStorage(), cacheBytes: 1_000 }
  const { vectors, database } = await openVectors(storage, 'tiny')
  const table = vectors.table('passages', SCHEMA)
  await table.add(rows(0, 500))
  assert.is((await table.list({ id: 'row-250' }, ['id'])).length, 1)
  assert.not(existsSync(join(folder, `tiny-${prefixes}`, 'vectors', 'passages.lance')))
  await Promise.all([vectors.close(), database.close()])
})

test('queries fail with a temporary error while the storage is away, and work again afterwards', async () => {
  const storage = createStorage()
  const proxy = await StorageProxy.start(storage.endpoint as string)
  const { vectors, database } = await openVectors({ ...storage, endpoint: proxy.url }, 'away')
  const table = vectors.table('passages', SCHEMA)
  await table.add(rows(0, 10))
  proxy.isAway = true
  for (const work of [() => table.list({ id: 'row-1' }, ['id']), () => table.add(rows(10, 10)), () => vectors.ping()])
    assert.is((await rejects(work())).retryAfterSeconds, 1)
  proxy.isAway = false
  await table.add(rows(20, 10))
  assert.is((await table.list({ id: ['row-1', 'row-25'] }, ['id'])).length, 2)
  await Promise.all([vectors.close(), database.close()])
  await proxy.close()
})

suiteWithStore.run()
