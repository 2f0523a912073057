import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { TablePool } from '../../../daemon/knowledge/tables/table-pool.ts'

const test = suite('processes for tables')

test('the memory of a process does not grow with the number of documents', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'cadre-tables-'))
  const path = join(folder, 'tables.db')
  const pool = new TablePool({ memoryMb: 160 })
  const add = (name: string, text: string) =>
    pool.run({ kind: 'add', path, document: { id: name, name, contentHash: name }, content: Buffer.from(text) }, { timeoutMs: 600_000 })
  const writeRow = (cell: (column: number) => string) => `|${Array.from({ length: 60 }, (_, column) => cell(column)).join('|')}|\n`
  const table = writeRow((column) => `column ${column}`) + writeRow(() => '---') + writeRow(String).repeat(2)
  try {
    await add('tables.md', `${table}\n`.repeat(200))
    for (let document = 0; document < 300; document++) assert.is(await add(`${document}.md`, 'Nothing.'), null)
  } finally {
    await pool.close()
    rmSync(folder, { recursive: true, force: true })
  }
})

test.run()
