import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Libsql from 'libsql'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { Resources } from '../harness/resources.ts'
import { isOnServer } from '../harness/sqld/test-database.ts'
import { TestServer } from '../harness/test-server.ts'

const test = suite('start after a kill')
// On a server, statements are not executed here.
const inFile = isOnServer ? test.skip : test

interface Statement {
  get(...values: unknown[]): unknown
  all(...values: unknown[]): unknown[]
  run(...values: unknown[]): unknown
}

/** Counts the statements that are executed and the rows that they return while the work runs. */
async function countDatabaseWork(work: () => Promise<void>): Promise<{ statements: number; rows: number }> {
  const counts = { statements: 0, rows: 0 }
  const count = (rows: number) => {
    counts.statements++
    counts.rows += rows
  }
  const { prepare } = Libsql.prototype
  Libsql.prototype.prepare = function (this: InstanceType<typeof Libsql>, sql: string) {
    const statement = prepare.call(this, sql) as unknown as Statement
    const { get, all, run } = statement
    return Object.assign(statement, {
      get(...values: unknown[]) {
        const row = get.apply(statement, values)
        count(row === undefined ? 0 : 1)
        return row
      },
      all(...values: unknown[]) {
        const rows = all.apply(statement, values)
        count(rows.length)
        return rows
      },
      run(...values: unknown[]) {
        count(0)
        return run.apply(statement, values)
      },
    }) as never
  }
  try {
    await work()
  } finally {
    Libsql.prototype.prepare = prepare
  }
  return counts
}

/** Starts a daemon with the files of another one that did not stop, and counts its work until it is ready. */
async function measureStart(records: number): Promise<{ statements: number; rows: number }> {
  const folder = mkdtempSync(join(tmpdir(), 'cadre-start-'))
  const home = join(folder, 'home')
  const server = await TestServer.start()
  try {
    const resources = new Resources(server)
    const source = await resources.source()
    for (let index = 0; index < records; index++) {
      const agent = await resources.agent()
      await resources.conversation({ agent_id: agent.id })
      await resources.document({ name: `${index}.md` }, source.id)
    }
    cpSync(server.paths.home, home, { recursive: true })
  } finally {
    await server.close()
  }
  try {
    return await countDatabaseWork(async () => {
      const next = await TestServer.start({ home })
      await next.stop()
    })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

inFile('the work until the daemon is ready does not grow with its records', async () => {
  const [few, many] = [await measureStart(5), await measureStart(50)]
  assert.ok(few.statements > 10, `only ${few.statements} statements were counted`)
  assert.equal(many, few)
})

test.run()
