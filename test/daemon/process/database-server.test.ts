import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { resolveDatabaseServer } from '../../../daemon/process/database-server.ts'
import { parseOptions, UsageError } from '../../../daemon/process/parse-options.ts'
import { homePaths, type Paths, parseDatabaseUrl } from '../../../src/config.ts'

const test = suite<{ paths: Paths }>('the server of the database')

test.before.each((context) => {
  context.paths = homePaths({ CADRE_HOME: mkdtempSync(join(tmpdir(), 'cadre-database-')) })
})
test.after.each(({ paths }) => {
  delete process.env.CADRE_DATABASE_URL
  delete process.env.CADRE_DATABASE_TOKEN
  rmSync(paths.home, { recursive: true, force: true })
})

test('records are in a file by default', async ({ paths }) => {
  assert.is(await resolveDatabaseServer(paths, undefined), undefined)
})

test('the flag comes before the environment, and the environment before config.json', async ({ paths }) => {
  writeFileSync(paths.settings, JSON.stringify({ 'database-url': 'ws://config:1', 'database-token': 'stored' }))
  assert.equal(await resolveDatabaseServer(paths, undefined), { url: 'ws://config:1', token: 'stored' })
  process.env.CADRE_DATABASE_URL = 'libsql://environment/'
  process.env.CADRE_DATABASE_TOKEN = 'secret'
  assert.equal(await resolveDatabaseServer(paths, undefined), { url: 'libsql://environment', token: 'secret' })
  const { databaseUrl } = parseOptions(['--database-url', 'https://flag'])
  assert.equal(await resolveDatabaseServer(paths, databaseUrl), { url: 'https://flag', token: 'secret' })
})

test('a bad address is explained without repeating its password', () => {
  const incomplete = ['', 'records.db', 'file:///x', 'ws://']
  for (const text of [...incomplete, 'postgres://user:pass@host/x', 'libsql://host?authToken=pass', 'wss://user:pass@host'])
    assert.throws(
      () => parseDatabaseUrl(text, 'CADRE_DATABASE_URL'),
      (error: Error) => error.message.startsWith('CADRE_DATABASE_URL must') && !/pass/.test(error.message),
      text,
    )
  assert.throws(
    () => parseOptions(['--database-url', 'records.db']),
    (error: unknown) => error instanceof UsageError,
  )
})

test.run()
