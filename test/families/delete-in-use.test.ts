import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { EMBEDDED_MODEL_ID } from '../../src/contract/families/models.ts'
import { expectData, expectError } from '../harness/expect.ts'
import { reportFailure } from '../harness/hooks.ts'
import { Resources } from '../harness/resources.ts'
import { type Json, TestServer } from '../harness/test-server.ts'
import { waitFor } from '../harness/wait-for.ts'

const test = suite('delete in use')
let server: TestServer
let resources: Resources

test.before(
  reportFailure(async () => {
    server = await TestServer.start()
    resources = new Resources(server)
  }),
)
test.after(reportFailure(() => server.close()))

interface Link {
  /** Creates the resource that is used. */
  target(): Promise<Json>
  path: string
  user(target: Json): Promise<Json>
  userPath: string
  field: string
  /** The value of the field after detaching; `owner` if the user is deleted too. */
  detached: unknown
}

const LINKS: Record<string, Link> = {
  'the model of an agent': {
    target: () => resources.model(),
    path: '/models',
    user: ({ id }) => resources.agent({ model_id: id }),
    userPath: '/agents',
    field: 'model_id',
    detached: null,
  },
  'the prompt template of an agent': {
    target: () => resources.template(),
    path: '/prompt-templates',
    user: ({ id }) => resources.agent({ prompt_template_id: id, variables: { name: 'Ada' } }),
    userPath: '/agents',
    field: 'prompt_template_id',
    detached: null,
  },
  'the RAG tool of an agent': {
    target: () => resources.ragTool(),
    path: '/rag-tools',
    user: ({ id }) => resources.agent({ tools: [id] }),
    userPath: '/agents',
    field: 'tools',
    detached: [],
  },
  'the retrieval tool of an agent': {
    target: () => resources.retrievalTool(),
    path: '/retrieval-tools',
    user: ({ id }) => resources.agent({ tools: [id] }),
    userPath: '/agents',
    field: 'tools',
    detached: [],
  },
  'the API tool of an agent': {
    target: () => resources.apiTool(),
    path: '/api-tools',
    user: ({ id }) => resources.agent({ tools: [id] }),
    userPath: '/agents',
    field: 'tools',
    detached: [],
  },
  'the MCP tool of an agent': {
    target: () => resources.mcpTool(),
    path: '/mcp-tools',
    user: ({ id }) => resources.agent({ tools: [id] }),
    userPath: '/agents',
    field: 'tools',
    detached: [],
  },
  'the knowledge source of a RAG tool': {
    target: () => resources.source(),
    path: '/knowledge-sources',
    user: ({ id }) => resources.ragTool({ knowledge_source_id: id }),
    userPath: '/rag-tools',
    field: 'knowledge_source_id',
    detached: null,
  },
  'the knowledge source of a retrieval tool': {
    target: () => resources.source(),
    path: '/knowledge-sources',
    user: ({ id }) => resources.retrievalTool({ knowledge_source_ids: [id] }),
    userPath: '/retrieval-tools',
    field: 'knowledge_source_ids',
    detached: [],
  },
  'the model of a RAG tool': {
    target: () => resources.model(),
    path: '/models',
    user: ({ id }) => resources.ragTool({ model_id: id }),
    userPath: '/rag-tools',
    field: 'model_id',
    detached: null,
  },
  'the embedding model of a RAG tool': {
    target: () => resources.model(),
    path: '/models',
    user: ({ id }) => resources.ragTool({ embedding_model: id }),
    userPath: '/rag-tools',
    field: 'embedding_model',
    detached: 'minilm',
  },
  'the embedding model of a retrieval tool': {
    target: () => resources.model(),
    path: '/models',
    user: ({ id }) => resources.retrievalTool({ embedding_model: id }),
    userPath: '/retrieval-tools',
    field: 'embedding_model',
    detached: 'minilm',
  },
  'the agent of a conversation': {
    target: () => resources.agent(),
    path: '/agents',
    user: ({ id }) => resources.conversation({ agent_id: id }),
    userPath: '/conversations',
    field: 'agent_id',
    detached: null,
  },
  'an evaluated agent': {
    target: () => resources.agent(),
    path: '/agents',
    user: ({ id }) => resources.evaluation({ target_id: id }),
    userPath: '/evaluations',
    field: 'target_id',
    detached: null,
  },
  'an evaluated RAG tool': {
    target: () => resources.ragTool(),
    path: '/rag-tools',
    user: ({ id }) => resources.evaluation({ type: 'rag_tool', target_id: id }),
    userPath: '/evaluations',
    field: 'target_id',
    detached: null,
  },
  'an evaluated prompt template': {
    target: () => resources.template(),
    path: '/prompt-templates',
    user: ({ id }) => resources.evaluation({ type: 'prompt_template', target_id: id }),
    userPath: '/evaluations',
    field: 'target_id',
    detached: null,
  },
  'an evaluated model': {
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
  test(`${name} can be deleted only with force, which detaches it`, async () => {
    const target = await makeTarget()
    const user = await makeUser(target)
    const conflict = await expectError(server.delete(`${path}/${target.id}`), 'CONFLICT', {
      error: new RegExp(user.id),
      hint: /force=true/,
    })
    assert.equal(
      conflict.details.map((detail: Json) => detail.field),
      [`${user.id}.${field}`],
    )
    await expectError(server.delete(`${path}/${target.id}?force=false`), 'CONFLICT')
    // The source may be syncing because of the new tool.
    const unchanged = await waitFor(async () => {
      const shown = await expectData(server.get(`${path}/${target.id}`))
      return !shown.progress && shown
    })
    assert.equal(unchanged, target)
    const { headers } = await server.get(`${userPath}/${user.id}`)

    assert.is((await server.delete(`${path}/${target.id}?force=true`)).status, 200)
    await expectError(server.get(`${path}/${target.id}`), 'NOT_FOUND')
    if (detached === 'owner') return void (await expectError(server.get(`${userPath}/${user.id}`), 'NOT_FOUND'))
    const after = await expectData(server.get(`${userPath}/${user.id}`))
    assert.equal(after[field], detached)
    assert.equal({ ...after, [field]: 0, updated_at: 0 }, { ...user, [field]: 0, updated_at: 0 })
    await expectError(server.delete(`${userPath}/${user.id}`, { headers: { 'if-match': String(headers.etag) } }), 'PRECONDITION_FAILED')
  })

  test(`${name} can be deleted after its user was deleted`, async () => {
    const target = await makeTarget()
    const user = await makeUser(target)
    await expectData(server.delete(`${userPath}/${user.id}`))
    assert.is((await server.delete(`${path}/${target.id}`)).status, 200)
  })
}

test('a forced delete of the default model makes the embedded model the default', async () => {
  const model = await resources.model()
  await expectData(server.put('/settings', { default_model_id: model.id }))
  await expectError(server.delete(`/models/${model.id}`), 'CONFLICT', { error: /default model/ })
  await expectData(server.delete(`/models/${model.id}?force=true`))
  assert.is((await expectData(server.get('/settings'))).default_model_id, EMBEDDED_MODEL_ID)
})

test('a conflict names the first users and counts the rest, and force detaches all', async () => {
  const model = await resources.model()
  const users = []
  for (let index = 0; index < 15; index++) users.push(await resources.agent({ model_id: model.id }))
  const conflict = await expectError(server.delete(`/models/${model.id}`), 'CONFLICT', { error: /and 12 more/ })
  assert.is(conflict.details.length, 10)
  await expectData(server.delete(`/models/${model.id}?force=true`))
  for (const { id } of users) assert.is((await expectData(server.get(`/agents/${id}`))).model_id, null)
})

test('detaching removes only the deleted resource from a list', async () => {
  const tools = [await resources.apiTool(), await resources.ragTool(), await resources.apiTool()].map(({ id }) => id)
  const agent = await resources.agent({ tools })
  await expectData(server.delete(`/rag-tools/${tools[1]}?force=true`))
  assert.equal((await expectData(server.get(`/agents/${agent.id}`))).tools, [tools[0], tools[2]])
  await expectError(server.delete(`/api-tools/${tools[0]}`), 'CONFLICT')
})

test('a conflict lists every use by the same user', async () => {
  const model = await resources.model()
  const tool = await resources.ragTool({ model_id: model.id, embedding_model: model.id })
  const conflict = await expectError(server.delete(`/models/${model.id}`), 'CONFLICT')
  assert.equal(conflict.details.map((detail: Json) => detail.field).sort(), [`${tool.id}.embedding_model`, `${tool.id}.model_id`])
  await expectData(server.delete(`/models/${model.id}?force=true`))
  const after = await expectData(server.get(`/rag-tools/${tool.id}`))
  assert.equal([after.model_id, after.embedding_model], [null, 'minilm'])
})

test('a conflict shows the current names of users', async () => {
  const model = await resources.model()
  const agent = await resources.agent({ model_id: model.id, name: 'before' })
  await expectData(server.put(`/agents/${agent.id}`, { name: 'after "quotes"' }))
  await expectError(server.delete(`/models/${model.id}`), 'CONFLICT', { error: /agent "after "quotes""/ })
})

test('a resource with a detached reference can be updated', async () => {
  const source = await resources.source()
  const tool = await resources.ragTool({ knowledge_source_id: source.id })
  await expectData(server.delete(`/knowledge-sources/${source.id}?force=true`))
  assert.is((await expectData(server.put(`/rag-tools/${tool.id}`, { name: 'still here' }))).knowledge_source_id, null)
  const other = await resources.source()
  assert.is((await expectData(server.put(`/rag-tools/${tool.id}`, { knowledge_source_id: other.id }))).knowledge_source_id, other.id)
  await expectError(server.delete(`/knowledge-sources/${other.id}`), 'CONFLICT')
  const evaluation = await resources.evaluation()
  await expectData(server.delete(`/agents/${evaluation.target_id}?force=true`))
  assert.is((await expectData(server.put(`/evaluations/${evaluation.id}`, { name: 'still here' }))).target_id, null)
})

test('force must be true or false', async () => {
  const agent = await resources.agent()
  for (const force of ['yes', '', '1', '2', 'TRUE'])
    await expectError(server.delete(`/agents/${agent.id}?force=${force}`), 'VALIDATION_ERROR', { field: 'force' })
  assert.equal(await expectData(server.get(`/agents/${agent.id}`)), agent)
})

test('deleting a resource deletes its links', async () => {
  const before = await server.database.get<{ total: number }>('SELECT count(*) AS total FROM links')
  const agent = await resources.agent({ model_id: (await resources.model()).id, tools: [(await resources.apiTool()).id] })
  await expectData(server.delete(`/agents/${agent.id}`))
  assert.equal(await server.database.get('SELECT count(*) AS total FROM links'), before)
  const orphans = await server.database.all("SELECT * FROM links WHERE owner_family = 'agents' AND owner_id NOT IN (SELECT id FROM agents)")
  assert.equal(orphans, [])
})

test.run()
