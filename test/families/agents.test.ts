import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { EMBEDDED_MODEL_ID } from '../../src/contract/families/models.ts'
import { expectData, expectError } from '../harness/expect.ts'
import { reportFailure } from '../harness/hooks.ts'
import { Resources, uniqueName } from '../harness/resources.ts'
import { TestServer } from '../harness/test-server.ts'

const test = suite('agents')
let server: TestServer
let resources: Resources

test.before(
  reportFailure(async () => {
    server = await TestServer.start()
    resources = new Resources(server)
  }),
)
test.after(reportFailure(() => server.close()))

test('an agent requires only a name; other fields get their defaults', async () => {
  const { id: _, created_at: __, updated_at: ___, ...agent } = await expectData(server.post('/agents', { name: 'bare' }), 201)
  assert.equal(agent, {
    name: 'bare',
    description: '',
    system_prompt: '',
    model_id: null,
    temperature: null,
    max_tokens: null,
    tools: [],
    allowed_tools: [],
    memory: false,
    topics: [],
    prompt_template_id: null,
    variables: {},
  })
})

test('agents can be filtered by type and status like other resources', async () => {
  const { id } = await resources.agent({ name: 'one of a kind' })
  const found = async (query: string) => {
    const { data, pagination } = (await server.get(`/agents?name=one%20of%20a%20kind&${query}`)).body
    assert.is(pagination.total, data.length)
    return data.map((agent: { id: string }) => agent.id)
  }
  for (const query of ['status=active', 'type=agent', 'type=agent&status=active&sort=name']) assert.equal(await found(query), [id], query)
  for (const query of ['status=error', 'type=file', 'type=agent&status=', 'type=']) assert.equal(await found(query), [], query)
  await expectError(server.get('/agents?kind=agent'), 'VALIDATION_ERROR', { field: 'kind' })
})

test('an agent stores all of its fields', async () => {
  const [rag, retrieval, api, template, model] = [
    await resources.ragTool(),
    await resources.retrievalTool(),
    await resources.apiTool(),
    await resources.template(),
    await resources.model(),
  ]
  const given = {
    name: 'Whole',
    description: 'd'.repeat(10_000),
    system_prompt: 'p'.repeat(100_000),
    model_id: model.id,
    temperature: 2,
    max_tokens: 10_000_000,
    tools: [api.id, rag.id, retrieval.id],
    topics: [
      { name: 'leave', description: 'Days off', instructions: 'i'.repeat(20_000) },
      { name: 'n'.repeat(200), description: '' },
    ],
    prompt_template_id: template.id,
    variables: { name: 'Ada', nested: { list: [1, 2] } },
  }
  const agent = await expectData(server.post('/agents', given), 201)
  assert.equal(agent, { ...agent, ...given })
  assert.equal(await expectData(server.get(`/agents/${agent.id}`)), agent)
})

test('agent numbers are accepted at their limits and rejected beyond', async () => {
  for (const fields of [{ temperature: 0 }, { temperature: 2 }, { max_tokens: 1 }])
    await expectData(server.post('/agents', { name: 'x', ...fields }), 201)
  for (const fields of [{ temperature: -0.001 }, { temperature: 2.001 }, { max_tokens: 0 }, { max_tokens: -5 }, { max_tokens: 1.5 }])
    await expectError(server.post('/agents', { name: 'x', ...fields }), 'VALIDATION_ERROR', { field: Object.keys(fields)[0] as string })
})

test('agent texts have maximum lengths, and the name must not be blank', async () => {
  for (const [field, text] of [
    ['name', ''],
    ['name', '   '],
    ['name', 'x'.repeat(201)],
    ['description', 'x'.repeat(10_001)],
    ['system_prompt', 'x'.repeat(100_001)],
  ] as const)
    await expectError(server.post('/agents', { name: 'x', [field]: text }), 'VALIDATION_ERROR', { field })
  await expectError(server.post('/agents', { description: 'x' }), 'VALIDATION_ERROR', { field: 'name', error: /is required/ })
})

test('a misspelled field is rejected with a suggestion', async () => {
  await expectError(server.post('/agents', { name: 'x', system_promt: 'y' }), 'VALIDATION_ERROR', {
    field: 'system_promt',
    hint: /Did you mean "system_prompt"/,
  })
  await expectError(server.post('/agents', { nmae: 'x' }), 'VALIDATION_ERROR', {
    field: 'name',
    hint: /^"nmae" is not a known field\. Did you mean "name"\?$/,
  })
  await expectError(server.post('/agents', { name: 'x', topics: [{ name: 't', instruction: 'y' }] }), 'VALIDATION_ERROR')
})

test('a topic can be given as its name only', async () => {
  const agent = await resources.agent({ topics: ['leave', { name: 'travel' }, { name: 'tax', instructions: 'careful' }] })
  assert.equal(agent.topics, [
    { name: 'leave', description: '' },
    { name: 'travel', description: '' },
    { name: 'tax', description: '', instructions: 'careful' },
  ])
  for (const topics of [[''], [{}], [7], 'leave', [{ name: '' }]])
    await expectError(server.post('/agents', { name: 'x', topics }), 'VALIDATION_ERROR')
})

test('the model of an agent can be given by id or by a unique provider model name', async () => {
  const name = uniqueName('llama')
  const model = await resources.model({ model_id: name })
  assert.is((await resources.agent({ model_id: model.id })).model_id, model.id)
  assert.is((await resources.agent({ model_id: name })).model_id, model.id)
  assert.is((await resources.agent({ model_id: 'embedded' })).model_id, EMBEDDED_MODEL_ID)
  const other = await resources.model({ model_id: name })
  await expectError(server.post('/agents', { name: 'x', model_id: name }), 'VALIDATION_ERROR', {
    field: 'model_id',
    error: /more than one/,
    hint: new RegExp(`${model.id} or ${other.id}`),
  })
  await expectError(server.post('/agents', { name: 'x', model_id: 'gpt-unknown' }), 'VALIDATION_ERROR', {
    field: 'model_id',
    error: /no model "gpt-unknown"/,
  })
})

test('the tools, template and model of an agent must exist on create and update', async () => {
  const { id } = await resources.agent()
  const wrong = { tools: ['rag_nothing'], prompt_template_id: 'tmpl_nothing', model_id: 'model_nothing' }
  for (const [field, value] of Object.entries(wrong)) {
    await expectError(server.post('/agents', { name: 'x', [field]: value }), 'VALIDATION_ERROR', { field })
    await expectError(server.put(`/agents/${id}`, { [field]: value }), 'VALIDATION_ERROR', { field })
  }
  const agent = await resources.agent()
  await expectError(server.post('/agents', { name: 'x', tools: [agent.id] }), 'VALIDATION_ERROR', { field: 'tools', error: /no tool/ })
  const tool = await resources.apiTool()
  await expectError(server.post('/agents', { name: 'x', tools: [tool.id, tool.id] }), 'VALIDATION_ERROR', { field: 'tools' })
})

test('null clears nullable agent fields, and is rejected for others by PUT', async () => {
  const [template, model] = [await resources.template(), await resources.model()]
  const agent = await resources.agent({
    model_id: model.id,
    temperature: 1,
    max_tokens: 5,
    prompt_template_id: template.id,
    variables: { name: 'Ada' },
    description: 'kept',
  })
  const cleared = await expectData(
    server.patch(`/agents/${agent.id}`, { model_id: null, temperature: null, max_tokens: null, prompt_template_id: null }),
  )
  assert.equal(
    [cleared.model_id, cleared.temperature, cleared.max_tokens, cleared.prompt_template_id, cleared.description],
    [null, null, null, null, 'kept'],
  )
  for (const field of ['name', 'description', 'system_prompt', 'tools', 'topics', 'variables'])
    await expectError(server.put(`/agents/${agent.id}`, { [field]: null }), 'VALIDATION_ERROR', { field })
  await expectData(server.delete(`/models/${model.id}`))
  await expectData(server.delete(`/prompt-templates/${template.id}`))
})

test('an agent needs the variables of its prompt template', async () => {
  const template = await resources.template({ template: '{{company}} {{topic}} {{tone}}' })
  const fields = { name: 'x', prompt_template_id: template.id }
  const missing = async (variables: object, names: string[]) => {
    const body = await expectError(server.post('/agents', { ...fields, variables }), 'VALIDATION_ERROR', {
      error: new RegExp(names.join(', ')),
    })
    assert.equal(
      body.details.map(({ field }: { field: string }) => field),
      names.map((name) => `variables.${name}`),
    )
  }
  await missing({}, ['company', 'topic', 'tone'])
  await missing({ company: 'Acme', tone: null }, ['topic', 'tone'])
  const variables = { company: 'Acme', topic: 'leave', tone: '' }
  const { id } = await expectData(server.post('/agents', { ...fields, variables }), 201)
  const failing = { variables: { tone: null } }
  await expectError(server.patch(`/agents/${id}`, failing), 'VALIDATION_ERROR', { field: 'variables.tone' })
  await expectError(server.put(`/agents/${id}`, { variables: {} }), 'VALIDATION_ERROR', { field: 'variables.company' })
  const plain = await resources.agent()
  await expectError(server.put(`/agents/${plain.id}`, { prompt_template_id: template.id }), 'VALIDATION_ERROR', {
    field: 'variables.company',
  })
  await expectData(server.put(`/agents/${id}`, { prompt_template_id: null, variables: {} }))
})

test('an agent of an older version without its variables can be changed otherwise', async () => {
  const template = await resources.template()
  const { id } = await resources.agent({ prompt_template_id: template.id, variables: { name: 'Ada' } })
  await server.database.write((transaction) =>
    transaction.run("UPDATE agents SET variables = '{}', version = version + 1 WHERE id = ?", [id]),
  )
  await expectData(server.put(`/agents/${id}`, { name: 'first' }))
  const read = await expectData(server.get(`/agents/${id}`))
  assert.equal([read.name, read.variables], ['first', {}])
  assert.is((await expectData(server.put(`/agents/${id}`, { ...read, name: 'second' }))).name, 'second')
})

test('an update replaces the lists of an agent completely', async () => {
  const [one, two] = [await resources.apiTool(), await resources.apiTool()]
  const agent = await resources.agent({ tools: [one.id, two.id], topics: ['a', 'b'], variables: { x: 1, y: 2 } })
  const after = await expectData(server.put(`/agents/${agent.id}`, { tools: [two.id], topics: ['c'], variables: { z: 3 } }))
  assert.equal([after.tools, after.topics, after.variables], [[two.id], [{ name: 'c', description: '' }], { z: 3 }])
  const empty = await expectData(server.put(`/agents/${agent.id}`, { tools: [], topics: [], variables: {} }))
  assert.equal([empty.tools, empty.topics, empty.variables], [[], [], {}])
  await expectData(server.delete(`/api-tools/${two.id}`))
})

test('members and viewers can read agents, only editors and admins can change them', async () => {
  const agent = await resources.agent()
  for (const as of ['member', 'viewer', 'editor']) assert.equal(await expectData(server.get(`/agents/${agent.id}`, { as })), agent)
  for (const as of ['member', 'viewer']) {
    await expectError(server.put(`/agents/${agent.id}`, { name: 'y' }, { as }), 'FORBIDDEN')
    await expectError(server.delete(`/agents/${agent.id}`, { as }), 'FORBIDDEN')
  }
  assert.is((await expectData(server.put(`/agents/${agent.id}`, { name: 'y' }, { as: 'editor' }))).name, 'y')
})

test.run()
