import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { parseOptions, UsageError } from '../../../daemon/process/parse-options.ts'
import { resolveStorage, resolveStorages } from '../../../daemon/process/storage-address.ts'
import { homePaths, type Paths } from '../../../src/config.ts'
import { parseStorageUrl, takeStorageKeys } from '../../../src/storage-settings.ts'

const test = suite<{ paths: Paths }>('the address of the storage')
const NAMES = ['CADRE_STORAGE_URL', 'CADRE_CACHE_MB', 'AWS_ENDPOINT_URL', 'AWS_REGION', 'AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY']
const setKeys = () => Object.assign(process.env, { AWS_ACCESS_KEY_ID: 'key', AWS_SECRET_ACCESS_KEY: 'secret' })

test.before.each((context) => {
  for (const name of NAMES) delete process.env[name]
  context.paths = homePaths({ CADRE_HOME: mkdtempSync(join(tmpdir(), 'cadre-storage-')) })
})
test.after.each(({ paths }) => {
  for (const name of NAMES) delete process.env[name]
  rmSync(paths.home, { recursive: true, force: true })
})

test('documents are in the home by default, and the variables of AWS are left alone', ({ paths }) => {
  setKeys()
  assert.is(resolveStorage(paths, undefined), undefined)
  assert.is(process.env.AWS_SECRET_ACCESS_KEY, 'secret')
})

test('the flag comes before the environment, and the environment before config.json', ({ paths }) => {
  const find = (flag?: string) => {
    setKeys()
    return resolveStorage(paths, flag)?.url
  }
  writeFileSync(paths.settings, JSON.stringify({ 'storage-url': 's3://config/' }))
  assert.is(find(), 's3://config')
  process.env.CADRE_STORAGE_URL = 's3://environment/some/prefix/'
  assert.is(find(), 's3://environment/some/prefix')
  assert.is(find(parseOptions(['--storage-url', 's3://flag']).storageUrl), 's3://flag')
})

test('keys are taken out of the environment', ({ paths }) => {
  setKeys()
  Object.assign(process.env, { AWS_ENDPOINT_URL: 'http://127.0.0.1:9000/', CADRE_CACHE_MB: '5' })
  const { source, target } = resolveStorages(paths, 's3://bucket', 's3://other')
  const keys = { endpoint: 'http://127.0.0.1:9000', region: 'us-east-1', accessKeyId: 'key', secretAccessKey: 'secret' }
  const expected = { ...keys, sessionToken: undefined, vectors: undefined, cacheBytes: 5 * 1024 ** 2 }
  assert.equal(source, { url: 's3://bucket', ...expected })
  assert.equal(target, { url: 's3://other', ...expected })
  assert.is(process.env.AWS_SECRET_ACCESS_KEY, undefined)
})

test('missing keys and bad addresses are explained', ({ paths }) => {
  assert.throws(() => resolveStorage(paths, 's3://bucket'), /The keys for the object storage s3:\/\/bucket are missing/)
  setKeys()
  process.env.AWS_ENDPOINT_URL = 'localhost:9000'
  assert.throws(() => resolveStorage(paths, 's3://bucket'), /AWS_ENDPOINT_URL must be a URL/)
  for (const text of ['', 'bucket', 's3://', 's3://UPPER', 'https://bucket/x', 's3://a/b?c', 's3://bucket/a//b', 's3://user:pass@bucket'])
    assert.throws(
      () => parseStorageUrl(text, 'CADRE_STORAGE_URL'),
      (error: Error) => error.message.startsWith('CADRE_STORAGE_URL must') && !/pass/.test(error.message),
      text,
    )
  assert.throws(
    () => parseOptions(['--storage-url', 'bucket']),
    (error: unknown) => error instanceof UsageError,
  )
})

test('LanceDB Cloud needs a key', () => {
  assert.throws(() => takeStorageKeys({ CADRE_VECTORS_URL: 'db://name' }), /LANCEDB_API_KEY/)
  assert.throws(() => takeStorageKeys({ CADRE_VECTORS_URL: 'name', LANCEDB_API_KEY: 'key' }), /such as db:\/\/name/)
  const { vectors } = takeStorageKeys({ CADRE_VECTORS_URL: 'db://name', LANCEDB_API_KEY: 'key', LANCEDB_REGION: 'eu' })
  assert.equal(vectors, { url: 'db://name', apiKey: 'key', region: 'eu', hostOverride: undefined })
})

test.run()
