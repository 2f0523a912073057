import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { expectData, expectError } from '../harness/expect.ts'
import { reportFailure } from '../harness/hooks.ts'
import { type Json, TestServer } from '../harness/test-server.ts'
import { declareResources, formatResources } from './as-code-fixture.ts'

const test = suite<{ service: TestServer; other: TestServer }>('as code: resources with the same name')
test.before.each(
  reportFailure(async (context) => {
    context.service = await TestServer.start()
    context.other = await TestServer.start()
  }),
)
test.after.each(
  reportFailure(async ({ service, other }) => {
    await service.close()
    await other.close()
  }),
)

const exportHome = (service: TestServer): Promise<Json> => expectData(service.get('/export'))
const make = (service: TestServer, path: string, body: Json): Promise<Json> => expectData(service.post(path, body), 201)
const agents = async (service: TestServer): Promise<string[]> =>
  (await expectData(service.get('/agents?limit=100&sort=created_at&order=asc'))).map(({ description }: Json) => description)
const actions = ({ changes }: Json): string[] =>
  changes.filter(({ family }: Json) => family === 'agents').map(({ action, name }: Json) => `${action} ${name}`)
const twin = (description: string, key?: string): Json => ({
  family: 'agents',
  file: `${description}.yaml`,
  fields: { name: 'Twin', ...(key ? { key } : {}), description },
})
const apply = (service: TestServer, resources: Json[], more: Json = {}): Promise<Json> =>
  expectData(service.post('/apply', { resources, ...more }))

test('resources with the same name, and references to them, survive export and apply', async ({ service, other }) => {
  for (const [index, text] of ['one', 'two', 'three'].entries()) {
    const model = await make(service, '/models', {
      name: 'Twin',
      provider: 'openai',
      model_id: `gpt-${index}`,
      api_key: `sk-${text}-0123456789`,
    })
    const template = await make(service, '/prompt-templates', { name: 'Twin', template: `${text} {{x}}` })
    const source = await make(service, '/knowledge-sources', { name: 'Twin', type: 'text', configuration: { text } })
    const rag = await make(service, '/rag-tools', { name: 'Twin', knowledge_source_id: source.id, model_id: model.id })
    const find = await make(service, '/retrieval-tools', { name: 'Twin', knowledge_source_ids: [source.id] })
    const tools = [rag.id, find.id, (await make(service, '/api-tools', { name: 'Twin', url: `https://${text}.example.com/` })).id]
    const fields = { model_id: model.id, prompt_template_id: template.id, variables: { x: text }, tools }
    const agent = await make(service, '/agents', { name: 'Twin', description: text, ...fields })
    const scorers = [{ type: 'llm_judge', model_id: model.id }]
    await make(service, '/evaluations', { name: 'Twin', type: 'agent', target_id: agent.id, test_cases: [{ input: text, scorers }] })
    await make(service, '/usage/thresholds', {
      entity_type: 'agent',
      entity_id: agent.id,
      metric: 'tokens',
      limit: index + 1,
      period: 'day',
    })
    await make(service, '/webhooks', { url: 'https://hooks.example.com/', events: ['evaluation.finished'], enabled: index > 0 })
  }
  const everything = await exportHome(service)
  const files = everything.resources.map(({ file }: Json) => file).filter((file: string) => file.startsWith('agents/'))
  assert.equal(files.filter((file: string) => /^agents\/twin(-[0-9a-f]{6})?\.yaml$/.test(file)).length, 3)
  const environment = new Proxy({}, { get: (_, name) => `whsec_${Buffer.alloc(32, String(name)).toString('base64')}` })
  const resources = await declareResources(everything.resources, environment)
  for (const set of [resources, [...resources].reverse()]) {
    const home = set === resources ? other : await TestServer.start()
    await apply(home, set)
    const again = await exportHome(home)
    assert.equal(await formatResources(again.resources), await formatResources(everything.resources))
    assert.equal(again, everything)
    const { changes } = await apply(home, set, { prune: true })
    assert.equal([...new Set(changes.map(({ action }: Json) => action))], ['unchanged'])
    if (home !== other) await home.close()
  }
  const { changes } = await apply(service, resources, { prune: true, dry_run: true, families: ['agents', 'prompt-templates'] })
  assert.equal([...new Set(changes.filter(({ family }: Json) => family === 'agents').map(({ action }: Json) => action))], ['unchanged'])
})

test('the oldest resource of a name keeps its file when another one is created', async ({ service, other }) => {
  await make(service, '/agents', { name: 'Twin', description: 'old' })
  const before = await exportHome(service)
  await apply(other, await declareResources(before.resources))
  await make(service, '/agents', { name: 'Twin', description: 'young' })
  const after = await exportHome(service)
  const [young, old] = after.resources
  assert.equal(old, before.resources[0])
  const { key, ...fields } = young.fields
  assert.equal([fields, young.file], [{ name: 'Twin', description: 'young' }, `agents/twin-${key}.yaml`])
  assert.equal(actions(await apply(other, await declareResources(after.resources))), [`create Twin#${key}`, 'unchanged Twin'])
  assert.equal(await exportHome(other), after)
})

test('a file with a key declares the resource with that key', async ({ service }) => {
  await apply(service, [twin('a'), twin('b', 'b'), twin('c', 'c')])
  assert.equal(actions(await apply(service, [twin('c2', 'c')], { prune: true })), ['update Twin#c', 'delete Twin', 'delete Twin#b'])
  assert.equal(actions(await apply(service, [twin('c2', 'c')], { prune: true })), ['unchanged Twin'])
  const alone = await exportHome(service)
  assert.equal(alone.resources[0], {
    family: 'agents',
    name: 'Twin',
    file: 'agents/twin.yaml',
    fields: { name: 'Twin', description: 'c2' },
  })
  assert.equal(actions(await apply(service, [twin('c2')], { prune: true })), ['unchanged Twin'])
  for (const set of [
    [twin('a'), twin('c', 'c')],
    [twin('c', 'c'), twin('a')],
  ])
    for (let time = 0; time < 2; time++) await apply(service, set)
  assert.equal((await agents(service)).sort(), ['a', 'c'])
})

test('references contain a key if the name is ambiguous, also if another name looks like it', async ({ service, other }) => {
  const source = (text: string, key?: string) => ({
    family: 'knowledge-sources',
    fields: { name: 'Twin', ...(key ? { key } : {}), type: 'text', configuration: { text } },
  })
  const rag = (name: string, knowledge_source_id: string) => ({
    family: 'rag-tools',
    file: `${name}.yaml`,
    fields: { name, knowledge_source_id },
  })
  const awkward = { family: 'knowledge-sources', fields: { name: 'Twin#b', type: 'text', configuration: { text: 'awkward' } } }
  await apply(service, [source('a'), source('b', 'b'), rag('of a', 'Twin'), rag('of b', 'Twin#b')])
  const made = await exportHome(service)
  assert.equal(
    made.resources.filter(({ family }: Json) => family === 'rag-tools').map(({ fields }: Json) => fields.knowledge_source_id),
    ['Twin', 'Twin#b'],
  )
  await apply(service, [awkward])
  await make(service, '/rag-tools', {
    name: 'of c',
    knowledge_source_id: (await expectData(service.get('/knowledge-sources?name=Twin%23b')))[0].id,
  })
  const everything = await exportHome(service)
  await apply(other, await declareResources(everything.resources))
  assert.equal(await exportHome(other), everything)
  const texts = everything.resources
    .filter(({ family }: Json) => family === 'rag-tools')
    .map(({ fields }: Json) => fields.knowledge_source_id)
  assert.match(texts.join(' '), /^Twin Twin#b Twin#b#[0-9a-f]{6}$/)
  await expectError(service.post('/apply', { resources: [rag('of d', 'Twin#d')] }), 'VALIDATION_ERROR', {
    error: /there is no knowledge source "Twin#d"/,
  })
})

test('two files for one resource, and invalid keys, are rejected', async ({ service }) => {
  const both = (a: Json, b: Json) =>
    expectError(service.post('/apply', { resources: [a, b] }), 'VALIDATION_ERROR', { error: /a.yaml and b.yaml both declare/ })
  await both(twin('a'), twin('b'))
  await both(twin('a', 'x'), twin('b', 'x'))
  for (const key of ['', ' ', 'a b', 'é', 'x'.repeat(41), 7, null, ['a']])
    await expectError(service.post('/apply', { resources: [{ family: 'agents', fields: { name: 'Twin', key } }] }), 'VALIDATION_ERROR', {
      field: 'key',
    })
  const threshold = { metric: 'tokens', limit: 1, period: 'day', key: 'x' }
  await expectError(service.post('/apply', { resources: [{ family: 'usage-thresholds', fields: threshold }] }), 'VALIDATION_ERROR', {
    field: 'key',
  })
})

test('deleting a resource deletes its key', async ({ service }) => {
  await apply(service, [twin('a'), twin('b', 'b')])
  const [{ id }] = await expectData(service.get('/agents?description=b'))
  await expectData(service.delete(`/agents/${id}`))
  assert.equal(await service.database.all('SELECT * FROM file_keys'), [])
})

test.run()
