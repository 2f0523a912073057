import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { EMBEDDED_MODEL_ID } from '../../src/contract/families/models.ts'
import { expectData, expectError } from '../harness/expect.ts'
import { aloud } from '../harness/hooks.ts'
import { Resources } from '../harness/resources.ts'
import { type Json, TestServer } from '../harness/test-server.ts'
import { waitFor } from '../knowledge/knowledge-fixture.ts'

const test = suite('deleting what is used')
let service: TestServer
let resources: Resources

test.before(
  aloud(async () => {
    service = await TestServer.start()
    resources = new Resources(service)
  }),
)
test.after(aloud(() => service.close()))

interface Link {
  /** What is used, and where it is found. */
  target(): Promise<Json>
  path: string
  user(target: Json): Promise<Json>
  userPath: string
  field: string
  /** What the field holds once it is detached; `owner` means that the user goes too. */
  detached: unknown
}

const LINKS: Record<string, Link> = {
  'a model that an agent speaks with': {
    target: () => resources.model(),
    path: '/models',
    user: ({ id }) => resources.agent({ model_id: id }),
    userPath: '/agents',
    field: 'model_id',
    detached: null,
  },
  'a template that an agent is told by': {
    target: () => resources.template(),
    path: '/prompt-templates',
    user: ({ id }) => resources.agent({ prompt_template_id: id }),
    userPath: '/agents',
    field: 'prompt_template_id',
    detached: null,
  },
  'a RAG tool of an agent': {
    target: () => resources.ragTool(),
    path: '/rag-tools',
    user: ({ id }) => resources.agent({ tools: [id] }),
    userPath: '/agents',
    field: 'tools',
    detached: [],
  },
  'a retrieval tool of an agent': {
    target: () => resources.retrievalTool(),
    path: '/retrieval-tools',
    user: ({ id }) => resources.agent({ tools: [id] }),
    userPath: '/agents',
    field: 'tools',
    detached: [],
  },
  'an API tool of an agent': {
    target: () => resources.apiTool(),
    path: '/api-tools',
    user: ({ id }) => resources.agent({ tools: [id] }),
    userPath: '/agents',
    field: 'tools',
    detached: [],
  },
  'a knowledge source of a RAG tool': {
    target: () => resources.source(),
    path: '/knowledge-sources',
    user: ({ id }) => resources.ragTool({ knowledge_source_id: id }),
    userPath: '/rag-tools',
    field: 'knowledge_source_id',
    detached: null,
  },
  'a knowledge source of a retrieval tool': {
    target: () => resources.source(),
    path: '/knowledge-sources',
    user: ({ id }) => resources.retrievalTool({ knowledge_source_ids: [id] }),
    userPath: '/retrieval-tools',
    field: 'knowledge_source_ids',
    detached: [],
  },
  'a model that writes the answers of a RAG tool': {
    target: () => resources.model(),
    path: '/models',
    user: ({ id }) => resources.ragTool({ model_id: id }),
    userPath: '/rag-tools',
    field: 'model_id',
    detached: null,
  },
  'a model that embeds for a RAG tool': {
    target: () => resources.model(),
    path: '/models',
    user: ({ id }) => resources.ragTool({ embedding_model: id }),
    userPath: '/rag-tools',
    field: 'embedding_model',
    detached: 'minilm',
  },
  'a model that embeds for a retrieval tool': {
    target: () => resources.model(),
    path: '/models',
    user: ({ id }) => resources.retrievalTool({ embedding_model: id }),
    userPath: '/retrieval-tools',
    field: 'embedding_model',
    detached: 'minilm',
  },
  'an agent of a conversation': {
    target: () => resources.agent(),
    path: '/agents',
    user: ({ id }) => resources.conversation({ agent_id: id }),
    userPath: '/conversations',
    field: 'agent_id',
    detached: null,
  },
  'an agent under evaluation': {
    target: () => resources.agent(),
    path: '/agents',
    user: ({ id }) => resources.evaluation({ target_id: id }),
    userPath: '/evaluations',
    field: 'target_id',
    detached: null,
  },
  'a RAG tool under evaluation': {
    target: () => resources.ragTool(),
    path: '/rag-tools',
    user: ({ id }) => resources.evaluation({ type: 'rag_tool', target_id: id }),
    userPath: '/evaluations',
    field: 'target_id',
    detached: null,
  },
  'a template under evaluation': {
    target: () => resources.template(),
    path: '/prompt-templates',
    user: ({ id }) => resources.evaluation({ type: 'prompt_template', target_id: id }),
    userPath: '/evaluations',
    field: 'target_id',
    detached: null,
  },
  'a model under evaluation': {
    target: () => resources.model(),
    path: '/models',
    user: ({ id }) => resources.evaluation({ type: 'model', target_id: id }),
    userPath: '/evaluations',
    field: 'target_id',
    detached: null,
  },
  'an agent with a threshold': {
    target: () => resources.agent(),
    path: '/agents',
    user: ({ id }) => resources.threshold({ entity_type: 'agent', entity_id: id }),
    userPath: '/usage/thresholds',
    field: 'entity_id',
    detached: 'owner',
  },
  'an evaluation with a threshold': {
    target: () => resources.evaluation(),
    path: '/evaluations',
    user: ({ id }) => resources.threshold({ entity_type: 'evaluation', entity_id: id }),
    userPath: '/usage/thresholds',
    field: 'entity_id',
    detached: 'owner',
  },
}

for (const [name, { target: makeTarget, path, user: makeUser, userPath, field, detached }] of Object.entries(LINKS)) {
  test(`${name} is not deleted by accident; by force it is detached`, async () => {
    const target = await makeTarget()
    const user = await makeUser(target)
    const conflict = await expectError(service.delete(`${path}/${target.id}`), 'CONFLICT', {
      error: new RegExp(user.id),
      hint: /force=true/,
    })
    assert.equal(
      conflict.details.map((detail: Json) => detail.field),
      [`${user.id}.${field}`],
    )
    await expectError(service.delete(`${path}/${target.id}?force=false`), 'CONFLICT')
    // A source may be getting the index that its tool asks for.
    const unharmed = await waitFor(async () => {
      const shown = await expectData(service.get(`${path}/${target.id}`))
      return !shown.progress && shown
    })
    assert.equal(unharmed, target)
    const { headers } = await service.get(`${userPath}/${user.id}`)

    assert.is((await service.delete(`${path}/${target.id}?force=true`)).status, 200)
    await expectError(service.get(`${path}/${target.id}`), 'NOT_FOUND')
    if (detached === 'owner') return void (await expectError(service.get(`${userPath}/${user.id}`), 'NOT_FOUND'))
    const after = await expectData(service.get(`${userPath}/${user.id}`))
    assert.equal(after[field], detached)
    assert.equal({ ...after, [field]: 0, updated_at: 0 }, { ...user, [field]: 0, updated_at: 0 })
    await expectError(service.delete(`${userPath}/${user.id}`, { headers: { 'if-match': String(headers.etag) } }), 'CONFLICT')
  })

  test(`${name} can be deleted once it is not used any more`, async () => {
    const target = await makeTarget()
    const user = await makeUser(target)
    await expectData(service.delete(`${userPath}/${user.id}`))
    assert.is((await service.delete(`${path}/${target.id}`)).status, 200)
  })
}

test('the default model is in use; by force the embedded one takes its place', async () => {
  const model = await resources.model()
  await expectData(service.put('/settings', { default_model_id: model.id }))
  await expectError(service.delete(`/models/${model.id}`), 'CONFLICT', { error: /default model/ })
  await expectData(service.delete(`/models/${model.id}?force=true`))
  assert.is((await expectData(service.get('/settings'))).default_model_id, EMBEDDED_MODEL_ID)
})

test('of many users the first are named and the rest are counted, and all are detached', async () => {
  const model = await resources.model()
  const users = []
  for (let index = 0; index < 15; index++) users.push(await resources.agent({ model_id: model.id }))
  const conflict = await expectError(service.delete(`/models/${model.id}`), 'CONFLICT', { error: /and 12 more/ })
  assert.is(conflict.details.length, 10)
  await expectData(service.delete(`/models/${model.id}?force=true`))
  for (const { id } of users) assert.is((await expectData(service.get(`/agents/${id}`))).model_id, null)
})

test('only the one that goes is taken out of a list; the others keep their order', async () => {
  const tools = [await resources.apiTool(), await resources.ragTool(), await resources.apiTool()].map(({ id }) => id)
  const agent = await resources.agent({ tools })
  await expectData(service.delete(`/rag-tools/${tools[1]}?force=true`))
  assert.equal((await expectData(service.get(`/agents/${agent.id}`))).tools, [tools[0], tools[2]])
  await expectError(service.delete(`/api-tools/${tools[0]}`), 'CONFLICT')
})

test('who uses a thing twice is told for each use', async () => {
  const model = await resources.model()
  const tool = await resources.ragTool({ model_id: model.id, embedding_model: model.id })
  const conflict = await expectError(service.delete(`/models/${model.id}`), 'CONFLICT')
  assert.equal(conflict.details.map((detail: Json) => detail.field).sort(), [`${tool.id}.embedding_model`, `${tool.id}.model_id`])
  await expectData(service.delete(`/models/${model.id}?force=true`))
  const after = await expectData(service.get(`/rag-tools/${tool.id}`))
  assert.equal([after.model_id, after.embedding_model], [null, 'minilm'])
})

test('users are named as they are called now', async () => {
  const model = await resources.model()
  const agent = await resources.agent({ model_id: model.id, name: 'before' })
  await expectData(service.put(`/agents/${agent.id}`, { name: 'after "quotes"' }))
  await expectError(service.delete(`/models/${model.id}`), 'CONFLICT', { error: /agent "after "quotes""/ })
})

test('what was detached can be changed and used again', async () => {
  const source = await resources.source()
  const tool = await resources.ragTool({ knowledge_source_id: source.id })
  await expectData(service.delete(`/knowledge-sources/${source.id}?force=true`))
  assert.is((await expectData(service.put(`/rag-tools/${tool.id}`, { name: 'still here' }))).knowledge_source_id, null)
  const other = await resources.source()
  assert.is((await expectData(service.put(`/rag-tools/${tool.id}`, { knowledge_source_id: other.id }))).knowledge_source_id, other.id)
  await expectError(service.delete(`/knowledge-sources/${other.id}`), 'CONFLICT')
  const evaluation = await resources.evaluation()
  await expectData(service.delete(`/agents/${evaluation.target_id}?force=true`))
  assert.is((await expectData(service.put(`/evaluations/${evaluation.id}`, { name: 'still here' }))).target_id, null)
})

test('force is a truth value', async () => {
  const agent = await resources.agent()
  for (const force of ['yes', '', '1', '2', 'TRUE'])
    await expectError(service.delete(`/agents/${agent.id}?force=${force}`), 'VALIDATION_ERROR', { field: 'force' })
  assert.equal(await expectData(service.get(`/agents/${agent.id}`)), agent)
})

test('links go with their owners: nothing is left over', async () => {
  const before = await service.database.get<{ total: number }>('SELECT count(*) AS total FROM links')
  const agent = await resources.agent({ model_id: (await resources.model()).id, tools: [(await resources.apiTool()).id] })
  await expectData(service.delete(`/agents/${agent.id}`))
  assert.equal(await service.database.get('SELECT count(*) AS total FROM links'), before)
  const orphans = await service.database.all(
    "SELECT * FROM links WHERE owner_family = 'agents' AND owner_id NOT IN (SELECT id FROM agents)",
  )
  assert.equal(orphans, [])
})

test.run()
