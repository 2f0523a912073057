import { once } from 'node:events'
import { createServer } from 'node:net'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { createSampler } from '../../../daemon/telemetry/tracing/sampler.ts'
import { readTraceSettings } from '../../../daemon/telemetry/tracing/trace-settings.ts'
import type { Tracer } from '../../../daemon/telemetry/tracing/tracer.ts'
import { Collector } from './collector.ts'

const test = suite('trace settings')
const read = (environment: Record<string, string>) => readTraceSettings(environment, '1.2.3')
const finishSpans = (tracer: Tracer, count: number) => {
  for (let index = 0; index < count; index++) tracer.startSpan(`span ${index}`, 'internal').end({}, undefined)
}

test('traces are disabled unless a standard variable enables them', () => {
  const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' }
  assert.is(read({}), undefined)
  assert.is(read({ OTEL_SERVICE_NAME: 'x' }), undefined)
  assert.is(read({ ...endpoint, OTEL_SDK_DISABLED: 'true' }), undefined)
  assert.is(read({ ...endpoint, OTEL_TRACES_EXPORTER: 'none' }), undefined)
  assert.is(read(endpoint)?.url, 'http://collector:4318/v1/traces')
  assert.is(read({ OTEL_TRACES_EXPORTER: 'otlp' })?.url, 'http://localhost:4318/v1/traces')
  assert.is(read({ ...endpoint, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://traces/own' })?.url, 'https://traces/own')
})

test('headers, resource, limits and the sampler are read', () => {
  const settings = read({
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318/',
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20abc, x-team = docs',
    OTEL_RESOURCE_ATTRIBUTES: 'service.name=from-attributes,deployment.environment.name=production',
    OTEL_BSP_MAX_QUEUE_SIZE: '100',
    OTEL_TRACES_SAMPLER: 'traceidratio',
    OTEL_TRACES_SAMPLER_ARG: '0.25',
    OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
    OTEL_PROPAGATORS: 'baggage',
  })
  assert.equal(settings, {
    url: 'http://collector:4318/v1/traces',
    headers: { authorization: 'Bearer abc', 'x-team': 'docs' },
    isCompressed: true,
    timeoutMs: 10_000,
    delayMs: 5_000,
    batchSize: 100,
    maxQueueSize: 100,
    sampler: 'traceidratio',
    ratio: 0.25,
    isPropagated: false,
    resource: { 'service.version': '1.2.3', 'service.name': 'from-attributes', 'deployment.environment.name': 'production' },
  })
  assert.is(read({ OTEL_TRACES_EXPORTER: 'otlp', OTEL_SERVICE_NAME: 'named' })?.resource['service.name'], 'named')
})

test('an invalid variable is named, without the value of a header', () => {
  const cases: [Record<string, string>, RegExp][] = [
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318' }, /OTEL_EXPORTER_OTLP_ENDPOINT must be a URL/],
    [{ OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }, /OTEL_EXPORTER_OTLP_PROTOCOL must be one of http\/json, http\/protobuf, not "grpc"/],
    [{ OTEL_TRACES_EXPORTER: 'zipkin' }, /OTEL_TRACES_EXPORTER must be one of otlp, none/],
    [{ OTEL_TRACES_SAMPLER: 'sometimes' }, /OTEL_TRACES_SAMPLER must be one of/],
    [{ OTEL_TRACES_SAMPLER_ARG: '2' }, /OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1/],
    [{ OTEL_BSP_MAX_QUEUE_SIZE: '-1' }, /OTEL_BSP_MAX_QUEUE_SIZE must be a number/],
    [{ OTEL_EXPORTER_OTLP_HEADERS: 'top-secret' }, /^OTEL_EXPORTER_OTLP_HEADERS must be a list such as key=value,other=value\.$/],
  ]
  for (const [environment, message] of cases) assert.throws(() => read({ OTEL_TRACES_EXPORTER: 'otlp', ...environment }), message)
})

test('samplers follow the decision of the client or the share of traces', () => {
  const low = `${'0'.repeat(24)}10000000`
  const high = `${'0'.repeat(24)}f0000000`
  assert.equal(
    [undefined, true, false].map((parent) => createSampler('parentbased_always_on', 1)(low, parent)),
    [true, true, false],
  )
  assert.equal(
    [undefined, true, false].map((parent) => createSampler('parentbased_always_off', 1)(low, parent)),
    [false, true, false],
  )
  assert.equal(
    [undefined, false].map((parent) => createSampler('always_on', 1)(low, parent)),
    [true, true],
  )
  assert.equal(
    [low, high].map((id) => createSampler('traceidratio', 0.5)(id, undefined)),
    [true, false],
  )
  assert.equal(
    [low, high].map((id) => createSampler('parentbased_traceidratio', 0)(id, true)),
    [true, true],
  )
})

test('spans are sent in batches with headers and resource, compressed if wanted, and the rest when the daemon stops', async () => {
  const collector = await Collector.start()
  const tracer = collector.createTracer({
    OTEL_BSP_SCHEDULE_DELAY: '60000',
    OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '10',
    OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
    OTEL_EXPORTER_OTLP_HEADERS: 'x-key=abc',
    OTEL_SERVICE_NAME: 'named',
  })
  finishSpans(tracer, 25)
  await tracer.close()
  assert.is(collector.spans.length, 25)
  assert.equal(new Set(collector.spans.map(({ spanId }) => spanId)).size, 25)
  assert.equal(
    collector.server.requests.map(({ method, url, headers }) => [method, url, headers['x-key'], headers['content-encoding']]),
    Array.from({ length: 3 }, () => ['POST', '/v1/traces', 'abc', 'gzip']),
  )
  assert.equal(collector.resource, { 'service.version': '1.2.3', 'service.name': 'named' })
  assert.equal(tracer.counts, { exported: 25, dropped: 0 })
  await collector.close()
})

test('a full buffer drops spans, and a collector that never responds does not delay the end', async () => {
  const collector = await Collector.start()
  const silent = createServer(() => undefined).listen(0, '127.0.0.1')
  await once(silent, 'listening')
  const { port } = silent.address() as { port: number }
  const tracer = collector.createTracer({ OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`, OTEL_BSP_MAX_QUEUE_SIZE: '50' })
  finishSpans(tracer, 1_000)
  await tracer.close()
  const { exported, dropped } = tracer.counts as { exported: number; dropped: number }
  assert.equal([exported, dropped], [0, 1_000])
  assert.equal(collector.warnings, ['traces could not be sent'])
  silent.close()
  await collector.close()
})

test.run()
