import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { hasAccess, maySpend, ROLES, type Role } from '../../src/contract/route.ts'
import { ALL_ROUTES } from '../../src/contract/routes.ts'
import { expectData } from '../harness/expect.ts'
import { reportFailure } from '../harness/hooks.ts'
import { ScriptedProvider, streamText } from '../harness/scripted-provider.ts'
import type { Json } from '../harness/test-server.ts'
import { KnowledgeFixture } from '../knowledge/knowledge-fixture.ts'
import { ScriptedEmbedder } from '../knowledge/scripted-embedder.ts'

const test = suite('spending')
let knowledge: KnowledgeFixture
let provider: ScriptedProvider
let embedder: ScriptedEmbedder
let source: Json
let priced: Json
let embeddingModel: Json
let agent: Json

test.before(
  reportFailure(async () => {
    knowledge = await KnowledgeFixture.start()
    provider = await ScriptedProvider.start('openai', streamText('Twenty-five days [1].'))
    embedder = await ScriptedEmbedder.start()
    source = await knowledge.createSyncedSource({ 'leave.md': 'Every employee has twenty-five days of paid annual leave.' })
    priced = await knowledge.resources.model({ ...provider.model, pricing: { input: 1, output: 2 } })
    embeddingModel = await knowledge.resources.model({ ...embedder.model, model_id: 'embed', pricing: { input: 1, output: 0 } })
    agent = await knowledge.resources.agent({ model_id: priced.id })
  }),
)
test.after(
  reportFailure(async () => {
    await knowledge.close()
    await Promise.all([provider.close(), embedder.close()])
  }),
)

const createTool = async (kind: 'ragTool' | 'retrievalTool', fields: Record<string, unknown>): Promise<Json> => {
  const sources = kind === 'ragTool' ? { knowledge_source_id: source.id } : { knowledge_source_ids: [source.id] }
  const tool = await knowledge.resources[kind]({ ...sources, ...fields })
  await knowledge.waitForSync(source.id)
  return tool
}
const countRequests = () => provider.received.length + embedder.requests
const question = { query: 'How many days of leave do I have?' }

/** Creates what a route needs; returns its path, body and caller. */
const CALLS: Record<string, (role: Role) => Promise<[path: string, body?: object]>> = {
  'messages.send': async (role) => {
    const { id } = await expectData(
      knowledge.service.post('/conversations', { agent_id: agent.id }, { as: role === 'viewer' ? 'admin' : role }),
    )
    return [`/conversations/${id}/messages`, { message: question.query }]
  },
  'conversations.compact': async (role) => {
    const { id } = await expectData(
      knowledge.service.post('/conversations', { agent_id: agent.id }, { as: role === 'viewer' ? 'admin' : role }),
    )
    return [`/conversations/${id}/compact`]
  },
  'messages.confirm': async () => ['/conversations/conv_x/messages/msg_x/confirmations', { tool_call_id: 'call_1', allow: true }],
  'rag-tools.query': async () => [`/rag-tools/${(await createTool('ragTool', { model_id: priced.id })).id}/query`, question],
  'retrieval-tools.search': async () => {
    const tool = await createTool('retrievalTool', { embedding_model: embeddingModel.id })
    return [`/retrieval-tools/${tool.id}/search`, question]
  },
  'openai.chat-completions.create': async () => [
    '/v1/chat/completions',
    { model: agent.name, messages: [{ role: 'user', content: question.query }] },
  ],
  'openai.responses.create': async () => ['/v1/responses', { model: agent.name, input: question.query }],
  'openai.embeddings.create': async () => ['/v1/embeddings', { model: embeddingModel.name, input: question.query }],
  'models.test': async () => [`/models/${priced.id}/test`],
  'evaluations.run': async () => [`/evaluations/${(await knowledge.resources.evaluation({ target_id: agent.id })).id}/run`],
  'knowledge-sources.sync': async () => [`/knowledge-sources/${source.id}/sync`],
  'documents.create': async () => [`/knowledge-sources/${source.id}/documents`, { name: 'more.md', content: 'More.' }],
}

test('every route that calls a model is known here', () => {
  assert.equal(
    ALL_ROUTES.filter(({ callsModel }) => callsModel)
      .map(({ id }) => id)
      .sort(),
    Object.keys(CALLS).sort(),
  )
})

for (const [id, prepare] of Object.entries(CALLS))
  for (const role of ROLES) {
    const route = ALL_ROUTES.find((candidate) => candidate.id === id)
    const isAllowed = route !== undefined && hasAccess(role, route.access) && maySpend(role)
    test(`${id} with models that cost money is ${isAllowed ? 'allowed' : 'forbidden'} for ${role}`, async () => {
      const [path, body] = await prepare(role)
      const before = countRequests()
      const { status, body: response } = await knowledge.service.post(path, body, { as: role })
      if (isAllowed) return void assert.not([401, 403].includes(status), `${status} ${JSON.stringify(response)}`)
      assert.equal([status, response.code ?? response.error.code], [403, route?.protocol ? 'insufficient_permissions' : 'FORBIDDEN'])
      assert.is(countRequests(), before)
    })
  }

test('a viewer may search and ask with models that cost nothing', async () => {
  const free = await knowledge.resources.model({ ...provider.model, pricing: { input: 0, output: 0 } })
  const ask = async (fields: Record<string, unknown>) => {
    const tool = await createTool('ragTool', fields)
    return knowledge.service.post(`/rag-tools/${tool.id}/query`, question, { as: 'viewer' })
  }
  assert.match((await expectData(ask({}))).answer, /twenty-five days/i)
  assert.is((await expectData(ask({ model_id: free.id }))).answer, 'Twenty-five days [1].')
  const search = await createTool('retrievalTool', {})
  const { results } = await expectData(knowledge.service.post(`/retrieval-tools/${search.id}/search`, question, { as: 'viewer' }))
  assert.is(results[0].metadata.source, 'leave.md')
  // Words are found without a model.
  const words = await createTool('retrievalTool', { embedding_model: embeddingModel.id, search_method: 'full_text' })
  assert.is((await knowledge.service.post(`/retrieval-tools/${words.id}/search`, question, { as: 'viewer' })).status, 200)
})

test('a model without a price, or a replay model that records one, may cost money', async () => {
  const unpriced = await knowledge.resources.model({ ...provider.model, pricing: null })
  const recording = await knowledge.resources.model({ provider: 'replay', model_id: priced.id })
  for (const { id } of [unpriced, recording]) {
    const tool = await createTool('ragTool', { model_id: id })
    const before = countRequests()
    assert.is((await knowledge.service.post(`/rag-tools/${tool.id}/query`, question, { as: 'viewer' })).status, 403)
    assert.is(countRequests(), before)
  }
})

test.run()
