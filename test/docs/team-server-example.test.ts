import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { isSqldInstalled, SQLD_PROGRAM } from '../harness/sqld/start-sqld.ts'

const FOLDER = fileURLToPath(new URL('../../examples/team-server/', import.meta.url))

const test = suite('example of a team server')
const withSqld = isSqldInstalled() ? test : test.skip

withSqld(
  'one command starts a libSQL server, an object store if Ceph is installed, and two daemons, and the smoke test passes',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'cadre-team-'))
    const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('CADRE_'))
    const own = {
      SQLD: SQLD_PROGRAM,
      PORT: String(20_000 + Math.floor(Math.random() * 20_000)),
      CADRE: `${process.execPath} ${join(FOLDER, '../../bin/run.js')}`,
      CADRE_RATE_LIMIT: '0',
    }
    const { stdout } = await promisify(execFile)(join(FOLDER, 'start.sh'), [folder, '--test'], {
      env: { ...Object.fromEntries(inherited), ...own },
    })
    assert.match(stdout, /^ok {2}when the first daemon is killed/m)
    assert.match(stdout, /^The smoke test passed\.$/m)
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
  },
)

test('the guide shows the Caddyfile of the example', () => {
  const guide = readFileSync(join(FOLDER, '../../docs/guides/team-server.md'), 'utf8')
  assert.ok(guide.includes(readFileSync(join(FOLDER, 'Caddyfile'), 'utf8')))
})

test.run()
