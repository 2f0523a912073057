import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { expectData, expectError } from '../harness/expect.ts'
import { reportFailure } from '../harness/hooks.ts'
import { type Json, TestServer } from '../harness/test-server.ts'

const test = suite<{ service: TestServer }>('as code: apply')

test.before.each(
  reportFailure(async (context) => {
    context.service = await TestServer.start()
  }),
)
test.after.each(reportFailure(({ service }) => service.close()))

const resource = (family: string, fields: Json, file = `${family}/${fields.name ?? 'x'}.yaml`) => ({ family, file, fields })
const apply = (service: TestServer, resources: Json[], more: Json = {}): Promise<Json> =>
  expectData(service.post('/apply', { resources, ...more }))
const actions = ({ changes }: Json): string[] => changes.map(({ action, family, name }: Json) => `${action} ${family}/${name}`)

const MODEL = { name: 'Cloud', provider: 'openai', model_id: 'gpt-4o' }
const HELPER = { name: 'Helper', model_id: 'Cloud', description: 'helps' }

test('a plan lists changes by field and applies nothing', async ({ service }) => {
  const set = [resource('agents', HELPER), resource('models', MODEL)]
  const first = await apply(service, set, { dry_run: true })
  assert.equal(actions(first), ['create models/Cloud', 'create agents/Helper'])
  assert.equal(first.changes[1].id, null)
  assert.equal(first.changes[1].fields, [
    { field: 'name', to: 'Helper' },
    { field: 'description', to: 'helps' },
    { field: 'model_id', to: 'Cloud' },
  ])
  assert.is((await service.get('/agents')).body.pagination.total, 0)
  await apply(service, set)
  const second = await apply(service, [resource('agents', { name: 'Helper', temperature: 1 }), resource('models', MODEL)], {
    dry_run: true,
  })
  assert.equal(actions(second), ['unchanged models/Cloud', 'update agents/Helper'])
  assert.equal(second.changes[1].fields, [
    { field: 'description', from: 'helps' },
    { field: 'model_id', from: 'Cloud' },
    { field: 'temperature', to: 1 },
  ])
  const [agent] = await expectData(service.get('/agents'))
  assert.equal([agent.description, agent.temperature], ['helps', null])
})

test('a field removed from a file is reset to its default', async ({ service }) => {
  await apply(service, [resource('models', MODEL), resource('agents', HELPER)])
  await apply(service, [resource('agents', { name: 'Helper' })])
  const [agent] = await expectData(service.get('/agents'))
  assert.equal([agent.description, agent.model_id], ['', null])
})

test('a template and the variables of its agents change together', async ({ service }) => {
  const template = (text: string) => resource('prompt-templates', { name: 'Tone', template: text })
  const agent = (variables: Json, name = 'Helper') => resource('agents', { name, prompt_template_id: 'Tone', variables })
  await apply(service, [template('{{a}}'), agent({ a: 1 })])
  const next = [template('{{a}} {{b}}'), agent({ a: 1, b: 2 })]
  assert.equal(actions(await apply(service, next, { dry_run: true })), ['update prompt-templates/Tone', 'update agents/Helper'])
  await apply(service, next)
  await apply(service, [template('{{c}}'), agent({ c: 3 })])
  await expectError(service.post('/apply', { resources: [template('{{c}} {{d}}')] }), 'CONFLICT', { error: /d, .*"Helper"/ })
  await expectError(service.post('/apply', { resources: [template('{{d}}'), agent({ c: 3 })] }), 'VALIDATION_ERROR', {
    error: /agents\/Helper\.yaml.* d\./,
    field: 'variables.d',
  })
  // A deleted agent is no obstacle.
  await apply(service, [template('{{d}}'), agent({ d: 4 }, 'Other')], { prune: true })
  assert.equal(
    (await expectData(service.get('/agents'))).map(({ name }: Json) => name),
    ['Other'],
  )
})

test('an error rolls everything back and names the file and the field', async ({ service }) => {
  const failing = async (bad: Json, error: RegExp, field?: string) => {
    const answer = service.post('/apply', { resources: [resource('models', MODEL), resource('agents', HELPER), bad] })
    await expectError(answer, 'VALIDATION_ERROR', { error, ...(field ? { field } : {}) })
    assert.is((await service.get('/models')).body.pagination.total, 1, 'only the embedded model')
    assert.is((await service.get('/agents')).body.pagination.total, 0)
  }
  await failing(
    resource('agents', { name: 'Two', model_id: 'Nobody' }),
    /^agents\/Two\.yaml: model_id: there is no model "Nobody"/,
    'model_id',
  )
  await failing(resource('agents', { description: 'nameless' }), /^agents\/x\.yaml: name: is required/, 'name')
  await failing(
    resource('evaluations', { name: 'E', type: 'constructor', target_id: 'x', test_cases: [{ input: 'x' }] }),
    /E\.yaml: type: must be/,
    'type',
  )
  await failing(resource('agents', { name: 'Two', temprature: 1 }), /^agents\/Two\.yaml: temprature: is not a known field/, 'temprature')
  await failing(
    resource('agents', { name: 'Two', tools: ['handbook'] }),
    /tools\.0: there is no RAG tool or retrieval tool or API tool or MCP tool "handbook"/,
  )
  await failing(
    resource('evaluations', { name: 'E', type: 'agent', target_id: 'Helper', test_cases: [] }),
    /evaluations\/E\.yaml: test_cases/,
  )
  await failing(
    resource('agents', HELPER, 'agents/copy.yaml'),
    /agents\/Helper\.yaml and agents\/copy\.yaml both declare the agent "Helper"/,
  )
  await failing(resource('settings', { default_model_id: 'Nobody' }, 'settings.yaml'), /^settings\.yaml: default_model_id/)
})

test('a name shared by several families needs the family as a prefix', async ({ service }) => {
  const source = resource('knowledge-sources', { name: 'Docs', type: 'file' })
  const tools = [
    resource('rag-tools', { name: 'docs', knowledge_source_id: 'Docs' }),
    resource('retrieval-tools', { name: 'docs', knowledge_source_ids: ['Docs'] }),
  ]
  const agent = (tool: string) => resource('agents', { name: 'A', tools: [tool] })
  await expectError(service.post('/apply', { resources: [source, ...tools, agent('docs')] }), 'VALIDATION_ERROR', {
    error: /is ambiguous/,
    hint: /Use one of: rag-tools\/docs, retrieval-tools\/docs/,
  })
  await apply(service, [source, ...tools, agent('retrieval-tools/docs')])
  const [made] = await expectData(service.get('/agents'))
  assert.match(made.tools[0], /^ret_/)
  // Ids and unambiguous names also work.
  assert.equal(actions(await apply(service, [agent(made.tools[0])])), ['unchanged agents/A'])
})

test('the type of a knowledge source cannot be changed by a file', async ({ service }) => {
  await apply(service, [resource('knowledge-sources', { name: 'Docs', type: 'file' })])
  const text = resource('knowledge-sources', { name: 'Docs', type: 'text', configuration: { text: 'x' } })
  await expectError(service.post('/apply', { resources: [text] }), 'VALIDATION_ERROR', {
    field: 'type',
    error: /cannot be changed from "file"/,
  })
})

test('prune deletes undeclared resources in dependency order and keeps those still referenced', async ({ service }) => {
  const all = [
    resource('models', MODEL),
    resource('models', { ...MODEL, name: 'Other' }),
    resource('knowledge-sources', { name: 'Docs', type: 'file' }),
    resource('rag-tools', { name: 'docs', knowledge_source_id: 'Docs' }),
    resource('agents', { ...HELPER, tools: ['docs'] }),
    resource(
      'usage-thresholds',
      { entity_type: 'agent', entity_id: 'Helper', metric: 'tokens', limit: 1, period: 'day' },
      'usage-thresholds/a.yaml',
    ),
    resource('settings', { default_model_id: 'Other' }, 'settings.yaml'),
  ]
  await apply(service, all)
  const [agent] = await expectData(service.get('/agents'))
  const talk = await expectData(service.post('/conversations', { agent_id: agent.id }), 201)
  await expectError(service.post('/apply', { resources: [resource('models', MODEL)], prune: true }), 'CONFLICT', {
    error: /"Other" is used by settings/,
    hint: /declare it in a file/,
  })
  const pruned = await apply(
    service,
    [resource('models', MODEL), resource('settings', { default_model_id: 'embedded' }, 'settings.yaml')],
    { prune: true },
  )
  assert.equal(actions(pruned), [
    'unchanged models/Cloud',
    'update settings/settings',
    'delete usage-thresholds/agent Helper tokens day',
    'delete agents/Helper',
    'delete rag-tools/docs',
    'delete knowledge-sources/Docs',
    'delete models/Other',
  ])
  assert.is((await expectData(service.get(`/conversations/${talk.id}`))).agent_id, null)
  await expectError(service.post('/apply', { resources: [], prune: true }), 'VALIDATION_ERROR')
})

test('apply with a plan fails if resources changed since', async ({ service }) => {
  const set = [resource('models', MODEL), resource('agents', HELPER)]
  await apply(service, set)
  const change = [resource('agents', { ...HELPER, temperature: 1 })]
  const { plan } = await apply(service, change, { dry_run: true })
  const [agent] = await expectData(service.get('/agents'))
  await expectData(service.put(`/agents/${agent.id}`, { max_tokens: 7 }))
  await expectError(service.post('/apply', { resources: change, plan }), 'CONFLICT', { error: /plan is stale/, hint: /new plan/ })
  assert.is((await expectData(service.get(`/agents/${agent.id}`))).max_tokens, 7)
  const again = await apply(service, change, { dry_run: true })
  const done = await apply(service, change, { plan: again.plan })
  assert.equal([done.plan, done.changes[0].fields.length], [again.plan, 2])
  await expectError(service.post('/apply', { resources: change, plan: again.plan }), 'CONFLICT')
})

test('two concurrent applies create each resource once, and a plan is applied once', async ({ service }) => {
  const set = [resource('models', MODEL), resource('agents', HELPER)]
  await Promise.all([apply(service, set), apply(service, set)])
  assert.equal(
    (await expectData(service.get('/agents'))).map(({ name }: Json) => name),
    ['Helper'],
  )
  const change = [resource('agents', { ...HELPER, temperature: 1 })]
  const { plan } = await apply(service, change, { dry_run: true })
  const replies = await Promise.all([1, 2].map(() => service.post('/apply', { resources: change, plan })))
  assert.equal(replies.map(({ status }) => status).sort(), [200, 409])
})

test('prune is limited to the given families', async ({ service }) => {
  await apply(service, [resource('models', MODEL), resource('agents', HELPER), resource('agents', { name: 'Second' })])
  const pruned = await apply(service, [resource('agents', HELPER)], { prune: true, families: ['agents'] })
  assert.equal(actions(pruned), ['unchanged agents/Helper', 'delete agents/Second'])
})

test('thresholds are identified by what they count', async ({ service }) => {
  const threshold = (limit: number, action = 'notify') =>
    resource('usage-thresholds', { metric: 'tokens', limit, period: 'day', action }, `usage-thresholds/${limit}.yaml`)
  await apply(service, [threshold(10), threshold(20, 'block')])
  const ids = (await expectData(service.get('/usage/thresholds'))).map(({ id }: Json) => id).sort()
  assert.equal(actions(await apply(service, [threshold(20, 'block'), threshold(15)])), [
    'unchanged usage-thresholds/all tokens day 2',
    'update usage-thresholds/all tokens day',
  ])
  const after = await expectData(service.get('/usage/thresholds'))
  assert.equal(after.map(({ id }: Json) => id).sort(), ids)
  assert.equal(after.map(({ limit }: Json) => limit).sort(), [15, 20])
})

test('a request repeated with the same idempotency key is applied once', async ({ service }) => {
  const body = { resources: [resource('webhooks', { url: 'https://hooks.example.com/', events: ['conversation.completed'] })] }
  const once = await service.post('/apply', body, { headers: { 'idempotency-key': 'k1' } })
  const again = await service.post('/apply', body, { headers: { 'idempotency-key': 'k1' } })
  assert.match(once.data.secrets[0].secret, /^whsec_/)
  assert.equal(again.data, once.data)
  assert.is((await service.get('/webhooks')).body.pagination.total, 1)
})

test.run()
