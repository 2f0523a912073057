import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { MetricRegistry } from '../../../daemon/telemetry/metrics.ts'
import { Telemetry } from '../../../daemon/telemetry/telemetry.ts'
import { CadreError } from '../../../src/contract/errors.ts'
import { version } from '../../../src/version.ts'
import { ConversationFixture } from '../../conversations/conversation-fixture.ts'
import { expectData, expectError } from '../../harness/expect.ts'
import { reportFailure } from '../../harness/hooks.ts'
import { respondWithError, type ScriptedProvider, streamReply } from '../../harness/scripted-provider.ts'
import { waitFor } from '../../harness/wait-for.ts'
import { Receiver } from '../../webhooks/receiver.ts'

const test = suite('metrics')
let fixture: ConversationFixture
let provider: ScriptedProvider

test.before(
  reportFailure(async () => {
    ;[fixture, provider] = await ConversationFixture.openWithProvider()
  }),
)
test.after(reportFailure(() => Promise.all([fixture.close(), provider.close()])))

/** Samples by name and labels, as Prometheus reads them. Throws if a line is not in the text format. */
function parseMetrics(text: string): Map<string, number> {
  const samples = new Map<string, number>()
  assert.ok(text.endsWith('\n'))
  for (const line of text.trimEnd().split('\n')) {
    if (/^# (HELP|TYPE) [a-z_]+ \S/.test(line)) continue
    const [, key, value] = /^([a-z_]+(?:\{(?:[a-z_]+="(?:[^"\\\n]|\\[\\"n])*",?)+\})?) (-?[\d.e+-]+)$/.exec(line) ?? []
    if (key === undefined || samples.has(key)) throw new Error(`Not a sample, or a repeated one: ${line}`)
    samples.set(key, Number(value))
  }
  return samples
}

const readMetrics = async () => parseMetrics((await fixture.service.get('/metrics')).text)

test('a histogram has cumulative buckets, a sum and a count, and labels are escaped', async () => {
  const registry = new MetricRegistry()
  const histogram = registry.createHistogram('seconds', 'Duration.', ['name'])
  for (const seconds of [0.001, 0.005, 0.02, 1_000]) histogram.observe(['a"b\\c\nd'], seconds)
  const lines = (await registry.format()).split('\n')
  const labels = 'name="a\\"b\\\\c\\nd"'
  assert.equal(lines.slice(0, 5), [
    '# HELP seconds Duration.',
    '# TYPE seconds histogram',
    `seconds_bucket{${labels},le="0.005"} 2`,
    `seconds_bucket{${labels},le="0.01"} 2`,
    `seconds_bucket{${labels},le="0.025"} 3`,
  ])
  assert.equal(lines.slice(-5), [
    `seconds_bucket{${labels},le="300"} 3`,
    `seconds_bucket{${labels},le="+Inf"} 4`,
    `seconds_sum{${labels}} 1000.026`,
    `seconds_count{${labels}} 4`,
    '',
  ])
})

test('the outcome of an operation is success, aborted or an error code', async () => {
  const telemetry = new Telemetry()
  const aborted = AbortSignal.abort()
  const fail = (error: Error) => async () => Promise.reject(error)
  await telemetry.measure('sync', { labels: ['all'] }, async () => undefined)
  await telemetry.measure('sync', { labels: ['all'] }, fail(new CadreError('PROVIDER_TIMEOUT', 'x'))).catch(() => undefined)
  await telemetry.measure('sync', { labels: ['all'] }, fail(new TypeError('x'))).catch(() => undefined)
  await telemetry.measure('sync', { labels: ['all'], signal: aborted }, fail(new Error('x'))).catch(() => undefined)
  const samples = parseMetrics(await telemetry.formatMetrics())
  for (const outcome of ['success', 'PROVIDER_TIMEOUT', 'INTERNAL', 'aborted'])
    assert.is(samples.get(`cadre_sync_duration_seconds_count{scope="all",outcome="${outcome}"}`), 1, outcome)
})

test('only an admin reads the metrics', async () => {
  for (const as of ['editor', 'member', 'viewer'] as const) await expectError(fixture.service.get('/metrics', { as }), 'FORBIDDEN')
  await expectError(fixture.service.get('/metrics', { as: null }), 'UNAUTHENTICATED')
})

test('requests are counted by the path of their route, whatever the path of the request', async () => {
  const agent = await fixture.resources.agent()
  for (const path of [`/agents/${agent.id}`, `/api/v1/agents/${agent.id}`, '/agents/agent_none']) await fixture.service.get(path)
  for (const name of ['a', 'b', 'c']) await fixture.service.get(`/no-such-path-${name}`)
  await fixture.service.call('PROPFIND', '/agents').catch(() => undefined)
  const samples = await readMetrics()
  const count = (labels: string) => samples.get(`cadre_http_request_duration_seconds_count{${labels}}`)
  assert.is(count('method="GET",route="/api/agents/{id}",status="200"'), 2)
  assert.is(count('method="GET",route="/api/agents/{id}",status="404"'), 1)
  assert.is(count('method="GET",route="none",status="404"'), 3)
  assert.not([...samples.keys()].some((key) => /agent_|no-such|PROPFIND/.test(key)))
})

test('replies, provider calls, tokens, syncs and webhook deliveries are counted', async () => {
  const receiver = await Receiver.start()
  const webhook = await fixture.resources.webhook({ url: receiver.url, allow_private_network: true })
  const id = await fixture.startConversation(provider)
  provider.script = [streamReply({ text: ['Hello'], usage: { input: 12, output: 5 } }), respondWithError(400)]
  const before = await readMetrics()
  await fixture.sendAndWait(id, 'Hello?')
  await fixture.send(id, 'Again?')
  const source = await fixture.resources.source()
  await expectData(fixture.service.post(`/knowledge-sources/${source.id}/sync`))
  await expectData(fixture.service.post(`/webhooks/${webhook.id}/test`))
  await waitFor(async () => (await readMetrics()).has('cadre_sync_duration_seconds_count{scope="all",outcome="success"}'))
  const after = await readMetrics()
  const difference = (key: string) => (after.get(key) ?? 0) - (before.get(key) ?? 0)
  assert.is(difference('cadre_reply_duration_seconds_count{outcome="stop"}'), 1)
  assert.is(difference('cadre_reply_duration_seconds_count{outcome="PROVIDER_ERROR"}'), 1)
  const call = 'cadre_provider_call_duration_seconds_count{provider="openai-compatible",kind="chat",outcome='
  assert.is(difference(`${call}"success"}`), 1)
  assert.is(difference(`${call}"PROVIDER_ERROR"}`), 1)
  assert.is(difference('cadre_model_tokens_total{kind="chat",direction="input"}'), 12)
  assert.is(difference('cadre_model_tokens_total{kind="chat",direction="output"}'), 5)
  assert.is(difference('cadre_sync_duration_seconds_count{scope="all",outcome="success"}'), 1)
  assert.is(difference('cadre_webhook_delivery_duration_seconds_count{outcome="success"}'), 1)
  await receiver.close()
})

test('queues, memory, CPU time and the lag of the event loop are reported', async () => {
  await readMetrics()
  await waitFor(async () => (await readMetrics()).has('nodejs_eventloop_lag_seconds{quantile="0.99"}'))
  const samples = await readMetrics()
  assert.is(samples.get(`cadre_info{version="${version}"}`), 1)
  for (const queue of ['embedding', 'replies', 'syncs', 'webhook_deliveries'])
    assert.is(samples.get(`cadre_queue_length{queue="${queue}"}`), 0, queue)
  assert.ok((samples.get('process_resident_memory_bytes') ?? 0) > 10_000_000)
  assert.ok((samples.get('process_cpu_seconds_total') ?? 0) > 0)
  assert.ok((samples.get('nodejs_eventloop_utilization') ?? -1) >= 0)
})

test.run()
