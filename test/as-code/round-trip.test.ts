import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { MANAGED_FAMILIES } from '../../src/contract/families/as-code.ts'
import { FAMILIES } from '../../src/contract/routes.ts'
import { expectData, expectError } from '../harness/expect.ts'
import { reportFailure } from '../harness/hooks.ts'
import { type Json, TestServer } from '../harness/test-server.ts'
import { createResources, declareResources, formatResources, SECRETS } from './as-code-fixture.ts'

const test = suite<{ service: TestServer; empty: TestServer }>('as code: round trip')

test.before(
  reportFailure(async (context) => {
    context.service = await TestServer.start()
    context.empty = await TestServer.start()
    await createResources(context.service)
  }),
)
test.after(
  reportFailure(async ({ service, empty }) => {
    await service.close()
    await empty.close()
  }),
)

const exportHome = (service: TestServer): Promise<Json> => expectData(service.get('/export'))
const pickFields = ({ resources }: Json, file: string): Json => resources.find((one: Json) => one.file === file)?.fields
const stamps = async (service: TestServer): Promise<unknown> =>
  Promise.all(
    [
      'models',
      'agents',
      'webhooks',
      'rag_tools',
      'evaluations',
      'usage_thresholds',
      'api_tools',
      'mcp_servers',
      'mcp_tools',
      'prompt_templates',
      'knowledge_sources',
    ].map((table) => service.database.all(`SELECT id, version, updated_at FROM ${table} ORDER BY id`)),
  )

test('all configurable families are managed', () => {
  const never = ['conversations', 'memories', 'tokens']
  assert.equal(
    [...MANAGED_FAMILIES].sort(),
    [...FAMILIES.map(({ name }) => name).filter((name) => !never.includes(name)), 'settings'].sort(),
  )
})

test('exported files use names for references and contain no defaults, secrets, ids or times', async ({ service }) => {
  const everything = await exportHome(service)
  const text = JSON.stringify(everything)
  for (const secret of Object.values(SECRETS)) assert.not.match(text, secret)
  assert.not.match(text, /_[0-9a-f]{8}-[0-9a-f]{4}-|created_at|updated_at/)
  assert.equal(Object.keys(pickFields(everything, 'agents/helper.yaml')), [
    'name',
    'model_id',
    'temperature',
    'tools',
    'prompt_template_id',
    'variables',
    'topics',
  ])
  assert.equal(pickFields(everything, 'agents/helper.yaml').tools, [
    'rag-tools/handbook',
    'retrieval-tools/handbook',
    'api-tools/weather',
    'mcp-tools/files__read_file',
  ])
  assert.equal(pickFields(everything, 'models/cloud.yaml'), {
    name: 'Cloud',
    provider: 'openai',
    model_id: 'gpt-4o',
    pricing: { input: 0.5, output: 1.5 },
    api_key: '${env:CADRE_MODEL_CLOUD_API_KEY}',
  })
  assert.is(pickFields(everything, 'models/again.yaml').model_id, 'Cloud')
  assert.is(pickFields(everything, 'models/embedded.yaml'), undefined)
  assert.equal(pickFields(everything, 'knowledge-sources/handbook.yaml'), {
    name: 'Handbook',
    description: 'Rules for all staff.',
    folder_descriptions: { hr: 'Leave and pay.' },
    type: 'file',
    configuration: { file_types: ['md'] },
  })
  assert.equal(pickFields(everything, 'knowledge-sources/wiki.yaml').auth, {
    type: 'basic',
    username: '${env:CADRE_KNOWLEDGE_SOURCE_WIKI_AUTH_USERNAME}',
    password: '${env:CADRE_KNOWLEDGE_SOURCE_WIKI_AUTH_PASSWORD}',
  })
  assert.equal(pickFields(everything, 'api-tools/maps.yaml').auth, {
    type: 'api_key',
    name: 'key',
    in: 'query',
    value: '${env:CADRE_API_TOOL_MAPS_AUTH_VALUE}',
  })
  assert.is(pickFields(everything, 'retrieval-tools/handbook.yaml').embedding_model, 'Local')
  assert.equal(
    [
      pickFields(everything, 'evaluations/smoke.yaml').target_id,
      pickFields(everything, 'evaluations/smoke.yaml').test_cases[0].scorers[0].model_id,
    ],
    ['Helper', 'Local'],
  )
  assert.is(pickFields(everything, 'usage-thresholds/agent-helper-tokens-day-2.yaml').action, 'block')
  assert.equal(pickFields(everything, 'settings.yaml'), {
    default_model_id: 'Local',
    conversation_idle_minutes: 90,
    daily_backups: 0,
    currency: 'USD',
  })
  assert.match(everything.notes.join(), /documents uploaded to "Handbook"/)
})

test('an export applied to an empty home yields the same export', async ({ service, empty }) => {
  const everything = await exportHome(service)
  const { changes } = await expectData(empty.post('/apply', { resources: await declareResources(everything.resources) }))
  assert.equal([...new Set(changes.map(({ action }: Json) => action))], ['create', 'update'])
  const again = await exportHome(empty)
  assert.equal(await formatResources(again.resources), await formatResources(everything.resources))
  assert.equal(again, everything)
  for (const path of ['/rag-tools', '/retrieval-tools', '/api-tools'])
    assert.is((await empty.get(`${path}?expose_mcp=true`)).body.pagination.total, 1, path)
  // The order does not matter: referenced resources are created first.
  const third = await TestServer.start()
  await expectData(third.post('/apply', { resources: (await declareResources(everything.resources)).reverse() }))
  assert.equal(await exportHome(third), everything)
  await third.close()
})

test('applying the same files twice changes nothing', async ({ empty, service }) => {
  const { resources } = await exportHome(service)
  const before = await stamps(empty)
  for (const environment of [SECRETS, {}]) {
    const { changes, notes } = await expectData(
      empty.post('/apply', { resources: await declareResources(resources, environment), prune: true }),
    )
    assert.equal([...new Set(changes.map(({ action }: Json) => action))], ['unchanged'])
    assert.is(changes.length, resources.length)
    assert.is(notes.length, environment === SECRETS ? 0 : 1)
  }
  assert.equal(await stamps(empty), before)
})

test('applied resources have their secrets and references', async ({ empty }) => {
  const [weather] = await expectData(empty.get('/api-tools?name=weather'))
  assert.equal([weather.header_names, weather.auth.type], [['X-Trace'], 'bearer'])
  const [cloud] = await expectData(empty.get('/models?name=Cloud'))
  assert.is(cloud.has_api_key, true)
  await expectError(empty.delete(`/models/${cloud.id}`), 'CONFLICT', { error: /is used by/ })
  const [handbook] = await expectData(empty.get('/rag-tools?name=handbook'))
  assert.is(handbook.model_id, cloud.id)
})

test('an export omits resources that could not be created again', async () => {
  const service = await TestServer.start()
  const first = await expectData(service.post('/agents', { name: 'Twin' }), 201)
  const source = await expectData(service.post('/knowledge-sources', { name: 'Gone', type: 'file' }), 201)
  const rag = await expectData(service.post('/rag-tools', { name: 'orphan', knowledge_source_id: source.id }), 201)
  await expectData(service.post('/evaluations', { name: 'Of it', type: 'rag_tool', target_id: rag.id, test_cases: [{ input: 'x' }] }), 201)
  await expectData(service.put(`/agents/${first.id}`, { tools: [rag.id] }))
  await service.delete(`/knowledge-sources/${source.id}?force=true`)
  const { resources, notes } = await exportHome(service)
  assert.equal(
    resources.map(({ file }: Json) => file),
    ['agents/twin.yaml', 'settings.yaml'],
  )
  assert.is(resources[0].fields.tools, undefined)
  assert.match(notes.join('\n'), /Not exported: the RAG tool "orphan".*\n.*Not exported: the evaluation "Of it"/)
  await service.close()
})

test('a replay model of a deleted model can be exported and applied', async ({ empty }) => {
  const service = await TestServer.start()
  const source = await expectData(service.post('/models', { name: 'Source', provider: 'openai', model_id: 'gpt-4o' }), 201)
  await expectData(service.post('/models', { name: 'Player', provider: 'replay', model_id: source.id }), 201)
  await expectData(service.delete(`/models/${source.id}`))
  const { resources } = await exportHome(service)
  const player = { name: 'Player', provider: 'replay', model_id: 'gpt-4o', recording: false }
  assert.equal(pickFields({ resources }, 'models/player.yaml'), player)
  for (const home of [service, empty])
    await expectData(home.post('/apply', { resources: await declareResources(resources), dry_run: true }))
  await service.close()
})

test.run()
