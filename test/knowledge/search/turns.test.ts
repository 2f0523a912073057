import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { findOwner, getPriority } from '../../../daemon/core/find-owner.ts'
import { type AnswerModels, EmbeddedModels } from '../../../daemon/inference/embedded-models.ts'
import type { Reading } from '../../../daemon/inference/model-task.ts'
import { createSearchTool } from '../../../daemon/knowledge/search-tool.ts'
import { EmbeddedChatModel } from '../../../daemon/models/quoted-answers/embedded-chat-model.ts'

const test = suite('turns of searches')
const caller = { tokenId: 'token_1', role: 'member', userId: 'ada' } as const
const READING: Reading = { words: new Uint32Array(), begins: new Float32Array(), ends: new Float32Array(), noAnswer: 0, relevance: 0 }
const logger = { debug: () => undefined, warn: () => undefined }

test('a search takes the turn of its token, its user or its conversation, and all evaluations of a token one other', () => {
  assert.is(findOwner({ caller, origin: { user_id: 'ada' } }), 'token_1')
  for (const evaluation_id of ['eval_1', 'eval_2'])
    assert.is(findOwner({ caller, origin: { evaluation_id, user_id: 'ada' } }), 'evaluations of token_1')
  assert.is(findOwner({ origin: { user_id: 'ada', conversation_id: 'conv_1' } }), 'ada')
  assert.is(findOwner({ origin: { user_id: null, conversation_id: 'conv_1' } }), 'conv_1')
  assert.is(findOwner({ origin: {} }), undefined)
})

test('the test cases of evaluations come after what a person waits for', () => {
  assert.is(getPriority({ origin: { evaluation_id: 'eval_1', user_id: 'ada' } }), 'normal')
  assert.is(getPriority({ origin: { conversation_id: 'conv_1', user_id: 'ada' } }), 'high')
})

test('embedding the query and reading the passages of a search are in the turn of its caller', async () => {
  const models = new EmbeddedModels({ directory: '', logger })
  const jobs: unknown[] = []
  models.pool.run = async (task, { owner, priority } = {}) => {
    jobs.push([task.question === undefined ? 'embed' : 'read', owner, priority])
    return task.question === undefined ? Float32Array.of(1) : READING
  }
  await models.embed(['query'], { priority: 'high', caller: 'token_1' })
  await models.read('query', ['passage', 'other passage'], { caller: 'token_1' })
  await models.read('test case', ['passage'], { caller: 'evaluations of token_1', priority: 'normal' })
  assert.equal(jobs, [
    ['embed', 'token_1', 'high'],
    ['read', 'token_1', 'high'],
    ['read', 'token_1', 'high'],
    ['read', 'evaluations of token_1', 'normal'],
  ])
})

test('the searches and the answer of a reply are in the turn of its caller', async () => {
  const owners: unknown[] = []
  const models: AnswerModels = {
    read: async (_question, texts, { caller: owner } = {}) => {
      owners.push(owner)
      return texts.map(() => READING)
    },
    embed: async (texts) => texts.map(() => Float32Array.of(1)),
  }
  const model = new EmbeddedChatModel('model_1', 'Embedded', models)
  const passages = [{ content: 'Ada opens the archive at nine.', source: 'a.md', page: 1 }]
  for await (const _ of model.stream({ messages: [{ role: 'user', content: 'Who opens the archive?' }], passages, owner: 'token_1' }));
  const tool = createSearchTool(
    { id: 'rag_1', name: 'docs', description: '' },
    { check: () => undefined } as never,
    async (_query, _topK, use) => {
      owners.push(findOwner(use))
      return []
    },
    {},
  )
  const use = { caller, origin: {}, signal: new AbortController().signal }
  await tool.run({ query: 'archive' }, use)
  await tool.retrieve?.('archive', use)
  assert.equal(owners, ['token_1', 'token_1', 'token_1'])
})

test.run()
