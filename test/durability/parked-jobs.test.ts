import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { type DaemonProcess, startDaemon, TOKEN } from '../harness/daemon.ts'
import { reportFailure } from '../harness/hooks.ts'
import { waitFor } from '../harness/wait-for.ts'

const test = suite('jobs during which the daemon ends each time')
const home = mkdtempSync(join(tmpdir(), 'cadre-parked-'))
let daemon: DaemonProcess
/** Accepts connections and never answers, so that every job is running when the daemon is killed. */
let silentServer: Server
let address: string
let connections = 0

test.before(
  reportFailure(async () => {
    silentServer = createServer(() => connections++)
    await new Promise<void>((resolve) => silentServer.listen(0, '127.0.0.1', resolve))
    address = `http://127.0.0.1:${(silentServer.address() as { port: number }).port}`
    await restart()
  }),
)
test.after(
  reportFailure(async () => {
    await daemon?.kill()
    silentServer.close()
    rmSync(home, { recursive: true, force: true })
  }),
)

const restart = async () => {
  daemon = await startDaemon(home, { token: TOKEN })
}

async function create(path: string, fields: object) {
  const { status, body } = await daemon.post(path, fields)
  assert.ok(status < 300, JSON.stringify(body))
  return body.data
}
const read = async (path: string) => (await daemon.get(path)).body.data

const waitForConnection = async (count: number) => {
  await waitFor(() => connections > count, { description: 'the job to call the server' })
}

/** Kills or stops the daemon while the job is waiting for the server, and starts it again. */
async function restartDuringJob(end: () => Promise<unknown>): Promise<void> {
  await waitForConnection(0)
  await end()
  connections = 0
  await restart()
}

test('a sync during which the daemon was killed each time is resumed twice, and again when a user starts it', async () => {
  const configuration = { url: address, allow_private_network: true }
  const { id } = await create('/api/knowledge-sources', { name: 'web', type: 'url', configuration })
  connections = 0
  assert.is((await daemon.post(`/api/knowledge-sources/${id}/sync`, {})).status, 200)
  // Stops are not counted.
  await restartDuringJob(() => daemon.stop())
  for (let kill = 0; kill < 2; kill++) {
    assert.is((await read(`/api/knowledge-sources/${id}`)).status, 'syncing')
    await restartDuringJob(() => daemon.kill())
  }
  const parked = await read(`/api/knowledge-sources/${id}`)
  assert.is(parked.status, 'error')
  assert.match(parked.error, /ended twice after it had resumed this sync.*cadre knowledge sync/)
  await daemon.kill()
  await restart()
  assert.equal([(await read(`/api/knowledge-sources/${id}`)).status, connections], ['error', 0])

  assert.is((await daemon.post(`/api/knowledge-sources/${id}/sync`, {})).status, 200)
  await restartDuringJob(() => daemon.kill())
  assert.is((await read(`/api/knowledge-sources/${id}`)).status, 'syncing')
  const headers = { authorization: `Bearer ${TOKEN}` }
  assert.is((await fetch(`${daemon.url}/api/knowledge-sources/${id}`, { method: 'DELETE', headers })).status, 200)
})

test('an evaluation run during which the daemon was killed each time is resumed twice and fails', async () => {
  const model = await create('/api/models', { name: 'silent', provider: 'ollama', model_id: 'silent', endpoint: address })
  const agent = await create('/api/agents', { name: 'agent', model_id: model.id })
  const test_cases = [{ input: 'hello', expected_output: 'hello' }]
  const { id } = await create('/api/evaluations', { name: 'hanging', type: 'agent', target_id: agent.id, test_cases })
  connections = 0
  const { run_id } = await create(`/api/evaluations/${id}/run`, {})
  const path = `/api/evaluations/${id}/runs/${run_id}`
  for (let kill = 0; kill < 3; kill++) {
    await waitFor(async () => (await read(path)).status === 'running')
    await restartDuringJob(() => daemon.kill())
  }
  const run = await read(path)
  assert.is(run.status, 'failed')
  assert.match(run.error, /ended twice after it had resumed this run.*start a new run/)
  assert.is(connections, 0)
})

test.run()
