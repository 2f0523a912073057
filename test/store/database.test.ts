import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { type Database, openDatabase } from '../../daemon/store/database.ts'
import { waitFor } from '../harness/wait-for.ts'

const test = suite('database')
const folder = mkdtempSync(join(tmpdir(), 'cadre-database-'))
let database: Database

test.before(async () => {
  database = openDatabase(join(folder, 'test.db'))
  await database.write((transaction) => transaction.run('CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL)'))
})
test.after(async () => {
  await database.close()
  rmSync(folder, { recursive: true })
})
test.before.each(async () => {
  await database.write((transaction) => transaction.run('DELETE FROM notes'))
})

const insertNote = (id: number, text = 'x') =>
  database.write((transaction) => transaction.run('INSERT INTO notes VALUES (?, ?)', [id, text]))
const listNoteIds = async () => (await database.all<{ id: number }>('SELECT id FROM notes ORDER BY id')).map(({ id }) => id)

test('concurrent writes run in order, each seeing the earlier ones', async () => {
  const seen = await Promise.all(
    Array.from({ length: 200 }, (_, id) =>
      database.write(async (transaction) => {
        const before = await transaction.get<{ count: number }>('SELECT count(*) AS count FROM notes')
        await transaction.run('INSERT INTO notes VALUES (?, ?)', [id, 'x'])
        return before?.count
      }),
    ),
  )
  assert.equal(
    seen,
    Array.from({ length: 200 }, (_, index) => index),
  )
})

test('a completed write is visible immediately', async () => {
  await Promise.all(
    [1, 2, 3].map(async (id) => {
      await insertNote(id)
      assert.ok(await database.get('SELECT 1 FROM notes WHERE id = ?', [id]))
    }),
  )
})

test('a write resolves after the flush and rejects if the flush fails', async () => {
  const flushes: { resolve(): void; reject(error: Error): void }[] = []
  const log = { flush: () => new Promise<void>((resolve, reject) => flushes.push({ resolve, reject })), close: async () => undefined }
  const nextFlush = async () => {
    await waitFor(() => flushes.length > 0, { intervalMs: 1 })
    return flushes.shift()
  }
  const held = openDatabase(join(folder, 'held.db'), log)
  let resolved = false
  const write = held.write((transaction) => transaction.run('CREATE TABLE notes (id INTEGER)')).finally(() => (resolved = true))
  const first = await nextFlush()
  await new Promise(setImmediate)
  assert.not.ok(resolved)
  first?.resolve()
  await write
  const [failing] = await Promise.allSettled([
    held.write((transaction) => transaction.run('INSERT INTO notes VALUES (1)')),
    nextFlush().then((second) => second?.reject(new Error('the disk is broken'))),
  ])
  assert.is(failing.status, 'rejected')
  await held.close()
})

test('writeWithoutFlush does not wait for the disk and is visible immediately', async () => {
  let flushes = 0
  const log = { flush: () => new Promise<void>(() => flushes++), close: async () => undefined }
  const held = openDatabase(join(folder, 'entered.db'), log)
  await held.writeWithoutFlush((transaction) => transaction.run('CREATE TABLE notes (id INTEGER)'))
  assert.is(await held.writeWithoutFlush((transaction) => transaction.run('INSERT INTO notes VALUES (1)')), 1)
  assert.ok(await held.get('SELECT 1 FROM notes'))
  assert.is(flushes, 0)
  const flushed = held.write((transaction) => transaction.run('INSERT INTO notes VALUES (2)')).then(() => 'flushed')
  const unflushed = held.writeWithoutFlush((transaction) => transaction.run('INSERT INTO notes VALUES (3)')).then(() => 'unflushed')
  assert.is(await Promise.race([flushed, unflushed]), 'unflushed')
  assert.is(flushes, 1)
})

test('a failed write is rolled back without affecting the others', async () => {
  const failing = (id: number) =>
    database.write(async (transaction) => {
      await transaction.run('INSERT INTO notes VALUES (?, ?)', [id, 'half'])
      throw new Error(`no ${id}`)
    })
  const outcomes = await Promise.allSettled([insertNote(1), failing(2), insertNote(3), insertNote(1), insertNote(4)])
  assert.equal(
    outcomes.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled', 'rejected', 'fulfilled'],
  )
  assert.is((outcomes[1] as PromiseRejectedResult).reason.message, 'no 2')
  assert.equal(await listNoteIds(), [1, 3, 4])
})

test('a write resolves only after the whole shared commit is on disk', async () => {
  const other = openDatabase(join(folder, 'test.db'))
  try {
    const reads = [1, 2, 3, 4, 5].map((id) => insertNote(id).then(() => other.all('SELECT id FROM notes')))
    const found = await Promise.all(reads)
    assert.equal(
      found.map((rows, index) => rows.length >= index + 1),
      [true, true, true, true, true],
    )
  } finally {
    await other.close()
  }
})

test('close waits for pending writes', async () => {
  const path = join(folder, 'closing.db')
  const closing = openDatabase(path)
  await closing.write((transaction) => transaction.run('CREATE TABLE notes (id INTEGER PRIMARY KEY)'))
  const writes = Array.from({ length: 120 }, (_, id) =>
    closing.write((transaction) => transaction.run('INSERT INTO notes VALUES (?)', [id])),
  )
  await closing.close()
  await Promise.all(writes)
  const again = openDatabase(path)
  assert.is((await again.all('SELECT id FROM notes')).length, 120)
  await again.close()
})

test.run()
