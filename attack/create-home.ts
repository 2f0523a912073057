/**
 * Creates the fixture of a release: `npx tsx attack/create-home.ts DAEMON VERSION`, where DAEMON is `dist/daemon/main.js` of the release.
 * The archive contains the home and what could be read from it.
 */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { waitForAddress } from '../bench/support/daemon.ts'
import { TOKEN } from '../test/harness/daemon.ts'
import { Client } from './support/client.ts'
import { withFolder } from './support/daemon.ts'
import { fillHome, readSnapshot } from './support/fill-home.ts'
import { HOMES_FOLDER } from './support/released-homes.ts'

const [daemon, version] = process.argv.slice(2)
if (daemon === undefined || version === undefined) throw new Error('Usage: npx tsx attack/create-home.ts DAEMON VERSION')

await withFolder(async (folder) => {
  const settings = {
    CADRE_HOME: join(folder, 'home'),
    CADRE_TOKEN: TOKEN,
    CADRE_KEYCHAIN: 'off',
    CADRE_MODEL_SERVERS: 'none',
    CADRE_RATE_LIMIT: '0',
  }
  const child = spawn(process.execPath, [daemon, '--port', '0'], {
    env: { ...process.env, ...settings },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = once(child, 'exit')
  try {
    const client = new Client(await waitForAddress(child))
    await fillHome(client)
    writeFileSync(join(folder, 'snapshot.json'), JSON.stringify(await readSnapshot(client), null, 1))
    await client.close()
  } finally {
    child.kill('SIGTERM')
    await exited
  }
  mkdirSync(HOMES_FOLDER, { recursive: true })
  const names = ['--exclude', 'home/logs/*', '--exclude', 'home/models/*', '-czf', join(HOMES_FOLDER, `${version}.tar.gz`), '-C', folder]
  execFileSync('tar', [...names, 'snapshot.json', 'home'])
})
