import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { expectData } from '../harness/expect.ts'
import { reportFailure } from '../harness/hooks.ts'
import { Resources } from '../harness/resources.ts'
import { type Json, TestServer } from '../harness/test-server.ts'

const test = suite('configuration of evaluation runs')
let service: TestServer
let resources: Resources

test.before(
  reportFailure(async () => {
    service = await TestServer.start()
    resources = new Resources(service)
  }),
)
test.after(reportFailure(() => service.close()))

test('a run stores the tools of its agent without secrets, and each index once', async () => {
  const source = await resources.source()
  const rag = await resources.ragTool({ knowledge_source_id: source.id, top_k: 7 })
  const find = await resources.retrievalTool({ knowledge_source_ids: [source.id], search_method: 'full_text', score_threshold: 0.2 })
  const call = await resources.apiTool({
    headers: { 'X-Trace': 'trace-me' },
    auth: { type: 'bearer', token: 'token-0123456789' },
    timeout_ms: 1_000,
  })
  const agent = await resources.agent({ tools: [rag.id, find.id, call.id] })
  const { id } = await resources.evaluation({ target_id: agent.id })
  const { run_id } = await expectData(service.post(`/evaluations/${id}/run`))
  await expectData(service.put(`/retrieval-tools/${find.id}`, { top_k: 1 }))
  await expectData(service.put(`/api-tools/${call.id}`, { url: 'https://other.example.com/', auth: { type: 'none' }, headers: {} }))
  const { target } = (await expectData(service.get(`/evaluations/${id}/runs/${run_id}`))).configuration
  assert.equal(target.tools, [rag, find, call])
  assert.equal(
    target.indexes.map((index: Json) => index.id),
    [source.id],
  )
  assert.not.match(JSON.stringify(target), /trace-me|token-0123456789|"secrets"/)
})

test.run()
