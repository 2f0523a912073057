import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { createStems } from '../../daemon/as-code/file-names.ts'
import { expectData } from '../harness/expect.ts'
import { reportFailure } from '../harness/hooks.ts'
import { type Json, TestServer } from '../harness/test-server.ts'
import { declareResources, formatResources } from './as-code-fixture.ts'

const test = suite<{ service: TestServer; empty: TestServer }>('as code: names')
test.before(
  reportFailure(async (context) => {
    context.service = await TestServer.start()
    context.empty = await TestServer.start()
  }),
)
test.after(
  reportFailure(async ({ service, empty }) => {
    await service.close()
    await empty.close()
  }),
)

const LONG = 'é'.repeat(190)
const NAMES = [
  ...[
    'a/b',
    'A/B',
    'a b',
    '..',
    '.',
    '/',
    '-',
    'con',
    'NUL',
    'settings',
    '.hidden',
    '🙂',
    '🙂🙂',
    'Straße',
    'STRASSE',
    'cafe\u0301',
    'café',
    '手册',
  ],
  ...[
    'embedded',
    'minilm',
    'models/embedded',
    'rag-tools/x',
    '${env:HOME}',
    'yes',
    '007',
    `${LONG} one`,
    `${LONG} two`,
    'x'.repeat(200),
    'model_1',
    'line\u2028end',
  ],
]

test('every name has a unique file name that is valid on all platforms', () => {
  const stems = [...createStems(NAMES).values()]
  assert.is(new Set(stems.map((stem) => stem.normalize('NFC').toLowerCase())).size, NAMES.length)
  for (const stem of stems) {
    assert.match(stem, /^[\p{L}\p{N}\p{M}]+(-[\p{L}\p{N}\p{M}]+)*$/u)
    assert.not.match(stem, /^(con|nul)$/)
    assert.ok(Buffer.byteLength(`${stem}.yaml`) <= 255, stem)
  }
  assert.equal([createStems(['My Agent']).get('My Agent'), createStems(['a', 'b']).get('a')], ['my-agent', 'a'])
})

test('resources with any name, and references to them, survive export and apply', async ({ service, empty }) => {
  for (const [index, name] of NAMES.entries()) {
    const model = await expectData(service.post('/models', { name, provider: 'openai', model_id: `m${index}` }), 201)
    const source = await expectData(service.post('/knowledge-sources', { name, type: 'text', configuration: { text: name } }), 201)
    const rag = await expectData(
      service.post('/rag-tools', { name: `t${index}`, knowledge_source_id: source.id, embedding_model: model.id }),
      201,
    )
    await expectData(service.post('/agents', { name, model_id: model.id, tools: [rag.id] }), 201)
    await expectData(
      service.post('/usage/thresholds', { entity_type: 'model', entity_id: model.id, metric: 'tokens', limit: 5, period: 'day' }),
      201,
    )
  }
  const { resources } = await expectData(service.get('/export'))
  assert.is(new Set(resources.map(({ file }: Json) => file)).size, NAMES.length * 5 + 1)
  await expectData(empty.post('/apply', { resources: await declareResources(resources) }))
  assert.equal(await formatResources((await expectData(empty.get('/export'))).resources), await formatResources(resources))
})

test('secrets never share a variable', async () => {
  const service = await TestServer.start()
  const tool = (name: string, more: Json) => expectData(service.post('/api-tools', { name, url: 'https://api.example.com/', ...more }), 201)
  await tool('x', { headers: { 'X-A': '1', X_A: '2', auth_token: '3' } })
  await tool('x-header', { auth: { type: 'bearer', token: '4' } })
  const variables = JSON.stringify(await expectData(service.get('/export'))).match(/\$\{env:\w+\}/g) ?? []
  assert.equal([variables.length, new Set(variables).size], [4, 4])
  await service.close()
})

test.run()
