import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openDatabase, type Transaction } from '../../daemon/store/database.ts'
import { MIGRATIONS, migrate } from '../../daemon/store/migrate.ts'
import type { Migration } from '../../daemon/store/migration.ts'

/** Hashes of the SQL that each released migration runs on an empty database. Never change one: add a migration instead. */
const RELEASED: Readonly<Record<string, string>> = {
  '0001-records': '4e4a9da78b1f7f73',
  '0002-knowledge': '5a078088422b7ad1',
  '0003-conversations': '3066ce92e31ad08f',
  '0004-models': '98abeb0cf4005f5e',
  '0005-usage': 'eb5bf969c656b1e7',
  '0006-webhooks': '89dc38f8098f9d2b',
  '0007-evaluations': '848045fb525f6168',
  '0008-api-tools': '7e9d570f6e3c7f96',
  '0009-analytics': '70dae30137e8837b',
  '0010-recordings': '48453c5a73c263cf',
  '0011-source-auth': '7df1e588c792d32d',
  '0012-file-keys': '7237bc01557ffd61',
  '0013-result-figures': '215a3a2d86483f90',
}

const test = suite('released migrations')

/** Runs all migrations and returns a hash of the SQL of each, ignoring differences in white space. */
async function hashMigrations(): Promise<Record<string, string>> {
  const folder = mkdtempSync(join(tmpdir(), 'cadre-released-'))
  const database = openDatabase(join(folder, 'cadre.db'))
  const hashes: Record<string, string> = {}
  const hashed = MIGRATIONS.map(
    ({ name, up }): Migration => ({
      name,
      async up(transaction) {
        const hash = createHash('sha256')
        const recorder: Transaction = {
          daemonId: null,
          get: (sql, parameters) => transaction.get(sql, parameters),
          all: (sql, parameters) => transaction.all(sql, parameters),
          run(sql, parameters) {
            hash.update(`${sql.replaceAll(/\s+/g, ' ').trim()};\n`)
            return transaction.run(sql, parameters)
          },
        }
        await up(recorder)
        hashes[name] = hash.digest('hex').slice(0, 16)
      },
    }),
  )
  await migrate(database, hashed)
  await database.close()
  rmSync(folder, { recursive: true, force: true })
  return hashes
}

test('a released migration runs exactly the SQL it was released with', async () => {
  const hashes = await hashMigrations()
  for (const [name, hash] of Object.entries(RELEASED)) assert.is(hashes[name], hash, `${name} was edited after its release`)
})

test('released migrations come first, in their released order', () => {
  const names = MIGRATIONS.map(({ name }) => name)
  assert.equal(names.slice(0, Object.keys(RELEASED).length), Object.keys(RELEASED))
})

test.run()
