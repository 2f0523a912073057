import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { type DaemonProcess, startDaemon, TOKEN } from '../harness/daemon.ts'
import { reportFailure } from '../harness/hooks.ts'
import { ScriptedProvider, streamReply } from '../harness/scripted-provider.ts'
import type { Json } from '../harness/test-server.ts'
import { waitFor } from '../harness/wait-for.ts'

const TEST_CASES = 300
const CONCURRENCY = 16

const test = suite('kill -9 during an evaluation')
let root: string
let daemon: DaemonProcess
let provider: ScriptedProvider

test.before(
  reportFailure(async () => {
    root = mkdtempSync(join(tmpdir(), 'cadre-evaluation-kill-'))
    provider = await ScriptedProvider.start(
      'openai',
      streamReply(({ body }) => ({ text: [body.messages.at(-1).content], usage: { input: 700, output: 300, cached: 0 } })),
    )
    daemon = await startDaemon(join(root, 'home'), { token: TOKEN })
  }),
)
test.after(
  reportFailure(async () => {
    await daemon.kill()
    await provider.close()
    rmSync(root, { recursive: true, force: true })
  }),
)

async function call(method: string, path: string, body?: object): Promise<Json> {
  const headers = { authorization: `Bearer ${TOKEN}`, ...(body ? { 'content-type': 'application/json' } : {}) }
  const response = await fetch(`${daemon.url}/api${path}`, { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) })
  const answer = (await response.json()) as Json
  assert.ok(response.ok, `${method} ${path}: ${JSON.stringify(answer).slice(0, 300)}`)
  return answer.data
}

const waitForDone = (path: string, done: number): Promise<boolean> =>
  waitFor(async () => (await call('GET', path)).done >= done, { description: `${done} finished test cases` })

test('after repeated kills every test case has one result and ran at most twice', async () => {
  const model = await call('POST', '/models', { name: 'scripted', ...provider.model })
  const agent = await call('POST', '/agents', { name: 'agent', model_id: model.id })
  const test_cases = Array.from({ length: TEST_CASES }, (_, index) => ({ input: `case ${index}`, expected_output: `case ${index}` }))
  const { id } = await call('POST', '/evaluations', {
    name: 'many',
    type: 'agent',
    target_id: agent.id,
    test_cases,
    concurrency: CONCURRENCY,
  })
  const { run_id } = await call('POST', `/evaluations/${id}/run`)
  const path = `/evaluations/${id}/runs/${run_id}`
  for (const share of [0.2, 0.6]) {
    await waitForDone(path, TEST_CASES * share)
    await daemon.kill()
    daemon = await startDaemon(join(root, 'home'), { token: TOKEN })
  }
  await waitForDone(path, TEST_CASES)
  await waitFor(async () => (await call('GET', path)).status !== 'running', { description: 'the end of the run' })
  const { status, summary, results } = await call('GET', `/evaluations/${id}/results`)
  assert.equal([status, summary.total, summary.passed, results.length], ['completed', TEST_CASES, TEST_CASES, TEST_CASES])
  const times = new Map<string, number>()
  for (const { body } of provider.received) times.set(body.messages.at(-1).content, (times.get(body.messages.at(-1).content) ?? 0) + 1)
  assert.is(times.size, TEST_CASES)
  assert.ok(Math.max(...times.values()) <= 3, 'a test case ran more than once per start of the daemon')
  assert.is(summary.tokens, TEST_CASES * 1_000)
  const { total_tokens } = await call('GET', `/usage/stats?entity_type=evaluation&entity_id=${id}`)
  const again = provider.received.length - TEST_CASES
  assert.ok(total_tokens >= TEST_CASES * 1_000, 'the usage of a result is missing')
  assert.ok(
    total_tokens <= (TEST_CASES + again) * 1_000,
    `${total_tokens} tokens: usage was counted twice, beyond the ${again} calls that the kills interrupted`,
  )
})

test.run()
