/** Problems found by `cadre doctor` and the fixes it suggests. */
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { createServer as createReceiver } from 'node:http'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openTerminal, type Terminal } from '../../harness/cli.ts'
import { reportFailure } from '../../harness/hooks.ts'

interface Check {
  name: string
  state: 'good' | 'warning' | 'broken'
  found: string
  fix?: string
}

const test = suite('doctor')
let terminal: Terminal
let place: string
test.before(() => {
  terminal = openTerminal()
  place = mkdtempSync(join(tmpdir(), 'cadre-doctor-'))
})
test.after(
  reportFailure(async () => {
    await terminal.close()
    rmSync(place, { recursive: true, force: true })
  }),
)

const examineAll = async () => {
  const { code, stdout } = await terminal.run(['doctor', '--json'])
  return { code, checks: JSON.parse(stdout) as Check[] }
}
const examine = async (name: string) => {
  const { code, checks } = await examineAll()
  return { code, checks: checks.filter((check) => check.name === name) }
}

test('before the first use, cadre without arguments suggests quickstart and starts nothing', async () => {
  const alone = await terminal.run([])
  assert.is(alone.code, 0)
  assert.match(alone.stdout, 'cadre quickstart')
  assert.not.match(alone.stdout, 'EXIT CODES')
  assert.match((await terminal.run(['--help'])).stdout, 'EXIT CODES')
  assert.is((await terminal.run(['doctor'])).code, 1)
  assert.not(existsSync(terminal.home))
})

test('a port in use by another program is reported, with a command that fixes it', async () => {
  const other = createServer()
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
  const environment = { CADRE_PORT: String((other.address() as AddressInfo).port) }
  const { stdout } = await terminal.run(['doctor'], { environment })
  assert.match(stdout, `not running, and another program uses port ${environment.CADRE_PORT}`)
  assert.match(stdout, 'cadre daemon start --port 0')
  const { code, stderr } = await terminal.run(['status'], { environment })
  assert.is(code, 5)
  assert.match(stderr, 'cadre daemon start --port 7412')
  other.close()
  assert.not.match((await terminal.run(['doctor'], { environment })).stdout, 'another program')
})

test('all checks of a new service are good', async () => {
  await terminal.json(['status'])
  const { code, checks } = await examineAll()
  assert.is(code, 0)
  for (const name of ['embedding', 'models', 'knowledge', 'webhooks'])
    assert.equal(
      checks.filter((check) => check.name === name).map(({ state }) => state),
      ['good'],
      name,
    )
})

test('a model without API key and a model server that is down are reported with fixes', async () => {
  const keyless = await terminal.request('POST', '/models', { name: 'keyless', provider: 'openai', model_id: 'gpt-x' })
  const [warned] = (await examine('models')).checks
  assert.equal([warned?.state, warned?.fix], ['warning', 'cadre models update keyless --api-key -'])
  await terminal.request('PUT', '/settings', { default_model_id: keyless.data.id })
  const { code, checks } = await examine('models')
  assert.equal([code, checks.map(({ state }) => state)], [1, ['broken']])
  const endpoint = 'http://127.0.0.1:9/v1'
  const unreachable = { name: 'gone', provider: 'openai-compatible', model_id: 'x', endpoint }
  const { data: model } = await terminal.request('POST', '/models', unreachable)
  await terminal.request('PUT', '/settings', { default_model_id: model.id })
  const [gone] = (await examine('models')).checks
  assert.equal([gone?.state, gone?.found.includes(endpoint)], ['broken', true])
  assert.match(gone?.fix ?? '', 'cadre models default ')
})

test('unreadable documents and missing folders are reported with their source', async () => {
  writeFileSync(join(place, 'good.md'), 'A text.')
  writeFileSync(join(place, 'bad.pdf'), '%PDF-1.7\nnothing that a reader could use')
  await terminal.run(['knowledge', 'add', place, '--name', 'papers'])
  const [failed] = (await examine('knowledge')).checks
  assert.equal([failed?.state, failed?.found], ['warning', 'papers: 1 document cannot be read'])
  assert.match(failed?.fix ?? '', 'cadre knowledge documents list papers --filter status=failed')
  rmSync(place, { recursive: true })
  await terminal.run(['knowledge', 'sync', 'papers'])
  const [gone] = (await examine('knowledge')).checks
  assert.equal([gone?.state, gone?.fix], ['broken', 'cadre knowledge sync papers'])
})

test('disabled, unreachable and failing webhooks are reported with fixes', async () => {
  const unreachable = { url: 'http://127.0.0.1:9/hook', events: ['conversation.completed'], allow_private_network: true }
  const { data: hook } = await terminal.request('POST', '/webhooks', unreachable)
  await terminal.run(['webhooks', 'test', hook.id])
  const [failing] = (await examine('webhooks')).checks
  assert.equal([failing?.state, failing?.fix?.includes(`cadre webhooks update ${hook.id} --url ADDRESS`)], ['warning', true])
  const receiver = createReceiver((_, reply) => reply.writeHead(500).end()).listen(0, '127.0.0.1')
  await once(receiver, 'listening')
  await terminal.request('PUT', `/webhooks/${hook.id}`, { url: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook` })
  await terminal.run(['webhooks', 'test', hook.id])
  receiver.close()
  const [refused] = (await examine('webhooks')).checks
  assert.equal([refused?.state, refused?.fix?.startsWith(`cadre webhooks redeliver ${hook.id} dlv_`)], ['warning', true])
  await terminal.request('PUT', `/webhooks/${hook.id}`, { enabled: false })
  const [disabled] = (await examine('webhooks')).checks
  assert.equal([disabled?.state, disabled?.fix], ['warning', `cadre webhooks update ${hook.id} --enabled`])
})

test('a damaged lock file is reported, with the way out', async () => {
  await terminal.run(['daemon', 'stop'])
  const lock = join(terminal.home, 'cadre.lock')
  writeFileSync(lock, 'not a lock')
  const { stderr } = await terminal.run(['status'])
  assert.match(stderr, `The lock file ${lock} is damaged.`)
  assert.match(stderr, /delete the file and start again/)
  const { checks } = await examineAll()
  const [daemon, found] = ['daemon', 'lock'].map((name) => checks.find((check) => check.name === name))
  assert.equal([daemon?.found, daemon?.fix], ['not running', undefined])
  assert.equal([found?.state, found?.found], ['broken', `${lock} is damaged`])
  assert.match(found?.fix ?? '', 'Delete it')
  rmSync(lock)
})

test('a damaged database is found while the daemon runs and when it cannot start, and only what helps is suggested', async () => {
  await terminal.json(['status'])
  assert.equal(
    (await examine('database')).checks.map(({ state }) => state),
    ['good'],
  )
  const path = join(terminal.home, 'cadre.db')
  const intact = readFileSync(path)
  truncateSync(path, 40 * 4096)
  const running = await examineAll()
  assert.is(running.code, 1)
  const found = running.checks.filter(({ state }) => state === 'broken')
  assert.equal(
    found.map(({ name }) => name),
    ['database'],
  )
  assert.match(found[0]?.found ?? '', `The database ${path} is damaged`)
  assert.match(found[0]?.fix ?? '', 'restore the file from a backup')
  process.kill((JSON.parse(readFileSync(join(terminal.home, 'daemon.json'), 'utf8')) as { pid: number }).pid, 'SIGKILL')
  const { code, stderr } = await terminal.run(['status'])
  assert.is(code, 5)
  assert.match(stderr, `The database ${path} is damaged`)
  assert.match(stderr, 'restore the file from a backup')
  const { checks } = await examineAll()
  const broken = checks.filter(({ state }) => state === 'broken').map(({ name, fix }) => [name, fix?.includes('cadre daemon start')])
  assert.equal(broken, [
    ['daemon', undefined],
    ['database', false],
  ])
  rmSync(`${path}-wal`, { force: true })
  rmSync(`${path}-shm`, { force: true })
  writeFileSync(path, intact)
})

test.run()
