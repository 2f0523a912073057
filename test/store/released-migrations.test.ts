import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openDatabase, type Transaction } from '../../daemon/store/database.ts'
import type { Migration } from '../../daemon/store/migration.ts'
import { MIGRATIONS, migrate } from '../../daemon/store/migrations.ts'

/** Hashes of the SQL that each released migration runs on an empty database. Never change one: add a migration instead. */
const RELEASED: Readonly<Record<string, string>> = {
  '0001-records': '74f2086a116a6f43',
  '0002-knowledge': 'c451b3063a0d671e',
  '0003-conversations': 'a1302bc7369e9167',
  '0004-models': '43a9732218edcda6',
  '0005-usage': '1712b0cffebe6310',
  '0006-webhooks': '3c6dedc00965f9d7',
  '0007-evaluations': '70c69e110d64f73b',
  '0008-api-tools': '387e3c47da4c795c',
  '0009-analytics': '5d0088d0ea3418b0',
  '0010-recordings': 'e58b7503705e732c',
  '0011-source-auth': 'e288b8831c8c1619',
  '0012-file-keys': '6adf3d4d40bfd791',
  '0013-result-figures': 'c1947b211f8d6297',
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
          get: (sql, parameters) => transaction.get(sql, parameters),
          all: (sql, parameters) => transaction.all(sql, parameters),
          run(sql, parameters) {
            hash.update(`${sql.replaceAll(/\s+/g, ' ').trim()};${JSON.stringify(parameters ?? [])}\n`)
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
