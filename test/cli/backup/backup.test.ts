import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { stopDaemon } from '../../../src/client/stop-daemon.ts'
import { homePaths } from '../../../src/config.ts'
import { version } from '../../../src/version.ts'
import { openTerminal, type Terminal } from '../../harness/cli.ts'
import { reportFailure } from '../../harness/hooks.ts'
import { ScriptedProvider, streamText } from '../../harness/scripted-provider.ts'
import type { Json } from '../../harness/test-server.ts'
import { waitFor } from '../../harness/wait-for.ts'

const test = suite('backup and restore')
let terminal: Terminal
let provider: ScriptedProvider
let conversation: string
let folder: string

test.before(
  reportFailure(async () => {
    terminal = openTerminal()
    folder = join(terminal.home, '..')
    provider = await ScriptedProvider.start('openai', streamText('Noted.'))
    const handbook = join(folder, 'handbook')
    mkdirSync(handbook)
    writeFileSync(join(handbook, 'leave.md'), '# Leave\n\nEveryone gets twenty-five days of leave.\n')
    writeFileSync(join(handbook, 'offices.csv'), 'Office,Desks\nBerlin,40\nOslo,25\n')
    await terminal.run(['knowledge', 'add', handbook, '--quiet'])
    const model = (await terminal.request('POST', '/models', { name: 'scripted', ...provider.model, api_key: 'sk-kept-0123456789' })).data
    const agent = (await terminal.request('POST', '/agents', { name: 'Helper', model_id: model.id })).data
    conversation = (await terminal.request('POST', '/conversations', { agent_id: agent.id })).data.id
  }),
)
test.after(
  reportFailure(async () => {
    await terminal.close()
    await provider.close()
  }),
)

const send = async (message: string) => {
  const { status } = await terminal.request('POST', `/conversations/${conversation}/messages`, { message, wait: true })
  assert.is(status, 200)
}

let restores = 0

/** Restores a backup and runs work with the environment of the restored home. */
async function withRestored(file: string, work: (environment: Record<string, string>) => Promise<void>): Promise<void> {
  const environment = { CADRE_HOME: join(folder, `restored-${++restores}`) }
  const { code, stderr } = await terminal.run(['restore', file], { environment })
  assert.is(code, 0, stderr)
  try {
    await work(environment)
  } finally {
    await stopDaemon(homePaths(environment))
  }
}

test('a backup during writes restores to a home that passes doctor and contains every acknowledged message', async () => {
  const acknowledged: string[] = []
  let isWriting = true
  const writing = (async () => {
    for (let number = 0; isWriting; number++) {
      await send(`message ${number}`)
      acknowledged.push(`message ${number}`)
    }
  })()
  await waitFor(() => acknowledged.length >= 3)
  const before = [...acknowledged]
  const file = join(folder, 'cadre.tar.gz')
  // Another user of a shared folder could place a link there to read the secrets in the backup.
  symlinkSync(join(folder, 'readable'), join(folder, '.cadre.tar.gz.partial'))
  const backup = await terminal.json<Json>(['backup', 'cadre.tar.gz', '--verify'])
  isWriting = false
  await writing
  assert.ok(acknowledged.length > before.length, 'messages were sent during the backup')
  assert.equal([backup.path, backup.verified, backup.size], [file, true, statSync(file).size])
  assert.is(statSync(file).mode & 0o077, 0)
  assert.not(existsSync(join(folder, 'readable')))
  assert.equal(
    readdirSync(folder).filter((name) => name.includes('partial')),
    [],
  )
  assert.equal(
    readdirSync(join(terminal.home, 'work')).filter((name) => name.startsWith('backup')),
    [],
  )

  await withRestored(file, async (environment) => {
    const messages = await terminal.json<Json[]>(['conversations', 'messages', conversation, '--all', '--filter', 'role=user'], {
      environment,
    })
    const restored = new Set(messages.map(({ content }) => content))
    assert.equal(
      before.filter((message) => !restored.has(message)),
      [],
    )
    const doctor = await terminal.run(['doctor', '--json'], { environment })
    assert.is(doctor.code, 0, doctor.stdout)
    // The key of the vault, the documents and the index came along.
    assert.is((await terminal.json<Json>(['models', 'show', 'scripted'], { environment })).has_api_key, true)
    assert.match((await terminal.run(['rag', 'query', 'handbook', 'How many days of leave?'], { environment })).stdout, /twenty-five/)
    // Tables are built again from the documents.
    const sum = await terminal.run(['knowledge', 'query', 'handbook', 'select sum(desks) from offices', '--output', 'csv'], { environment })
    assert.match(sum.stdout, /^65$/m, sum.stderr)
  })
})

test('the indexes are included on request', async () => {
  await terminal.json(['backup', 'index.tar.gz', '--index'])
  await withRestored(join(folder, 'index.tar.gz'), async (environment) => {
    assert.ok(readdirSync(join(environment.CADRE_HOME as string, 'vectors')).length > 0)
    assert.match((await terminal.run(['rag', 'query', 'handbook', 'How many days of leave?'], { environment })).stdout, /twenty-five/)
  })
})

test('existing files, folders in the home and homes in use are not overwritten', async () => {
  const run = async (...words: string[]) => {
    const { code, stderr } = await terminal.run(words)
    return `${code} ${stderr}`
  }
  writeFileSync(join(folder, 'mine.tar.gz'), 'mine')
  assert.match(await run('backup', 'mine.tar.gz'), /^1 .*already exists/s)
  assert.is(readFileSync(join(folder, 'mine.tar.gz'), 'utf8'), 'mine')
  assert.match(await run('backup', join(terminal.home, 'x.tar.gz')), /must not be in the home/)
  assert.match(await run('backup', 'missing/x.tar.gz'), /does not exist/)
  assert.match(await run('backup', `${'x'.repeat(245)}.tar.gz`), /^1 .*ENAMETOOLONG/s)
  assert.match(await run('backup', 'afterwards.tar.gz'), /^0 /, 'a failed backup does not block the next one')
  assert.match(await run('backup'), /^2 .*Name the file/s)
  assert.match(await run('backup', 'cadre.zip'), /^2 .*ends in \.tar\.gz/s)
  assert.match(await run('restore', 'cadre.tar.gz'), /^2 .*is not empty/s)
  assert.match(await run('restore', 'cadre.tar.gz', '--verify'), /^0 .*is intact/s)
  assert.match(await run('restore', 'mine.tar.gz', '--verify'), /cannot be restored: it is damaged/)
  assert.match(await run('restore', 'absent.tar.gz', '--verify'), /not found/)
})

test('a backup that cannot be read again is reported with its file and the next command', async () => {
  const path = join(folder, 'my disk.tar.gz')
  writeFileSync(path, 'damaged')
  const backup = { path, size: 7, files: 1, sha256: '', created_at: new Date().toISOString() }
  const server = createServer(({ url }, response) => {
    if (url === '/api/backups')
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end(`event: backup_end\ndata: ${JSON.stringify(backup)}\n\n`)
    else response.end(JSON.stringify({ status: 'healthy', version, database: 'connected', vector_db: 'connected' }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const environment = { CADRE_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, CADRE_TOKEN: 'secret' }
  const { code, stderr } = await terminal.run(['backup', 'my disk.tar.gz', '--force', '--verify', '--index'], { environment })
  server.close()
  assert.is(code, 2)
  assert.match(stderr, `${path} cannot be restored: it is damaged: incorrect header check.`)
  assert.match(stderr, "write it again: cadre backup 'my disk.tar.gz' --force --verify --index")
})

test('a backup that is killed half-way leaves no file', async () => {
  const original = join(terminal.home, 'documents', 'ff', 'f'.repeat(64))
  mkdirSync(join(original, '..'), { recursive: true })
  // Takes a while to write.
  writeFileSync(original, randomBytes(50_000_000))
  const child = terminal.start(['backup', 'killed.tar.gz'])
  const partial = join(folder, '.killed.tar.gz.partial')
  await waitFor(() => existsSync(partial) || child.exitCode !== null, { intervalMs: 5 })
  child.kill('SIGKILL')
  await once(child, 'exit')
  // The daemon notices that the client is gone.
  await waitFor(() => !existsSync(partial))
  assert.not.ok(existsSync(join(folder, 'killed.tar.gz')))
  rmSync(original)
})

test('daily backups are set, written and limited', async () => {
  const { stderr } = await terminal.run(['backup', '--daily', '2'])
  assert.match(stderr, /newest 2 are kept/)
  mkdirSync(join(terminal.home, 'backups'), { recursive: true, mode: 0o700 })
  for (const name of ['cadre-2020-01-01.tar.gz', 'cadre-2020-01-02.tar.gz', '.cadre-2019-12-31.tar.gz.partial'])
    writeFileSync(join(terminal.home, 'backups', name), '')
  await terminal.run(['daemon', 'restart'])
  const today = `cadre-${new Date().toISOString().slice(0, 10)}.tar.gz`
  const list = () => readdirSync(join(terminal.home, 'backups'))
  await waitFor(() => !list().includes('cadre-2020-01-01.tar.gz'))
  assert.equal(list().sort(), ['cadre-2020-01-02.tar.gz', today])
  const checks = await terminal.json<Json[]>(['doctor'])
  assert.match(checks.find(({ name }) => name === 'backup').found, /last created at 20/)
})

test.run()
