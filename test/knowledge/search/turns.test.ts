import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { EmbeddedModels } from '../../../daemon/inference/embedded-models.ts'
import type { Reading } from '../../../daemon/inference/model-task.ts'
import { findOwner } from '../../../daemon/knowledge/search/find-owner.ts'

const test = suite('turns of searches')
const caller = { tokenId: 'token_1', role: 'member', userId: 'ada' } as const
const logger = { debug: () => undefined, warn: () => undefined }

test('a search takes the turn of its evaluation, its token, its user or its conversation', () => {
  assert.is(findOwner({ caller, origin: { user_id: 'ada' } }), 'token_1')
  assert.is(findOwner({ caller, origin: { evaluation_id: 'eval_1', user_id: 'ada' } }), 'eval_1')
  assert.is(findOwner({ origin: { user_id: 'ada', conversation_id: 'conv_1' } }), 'ada')
  assert.is(findOwner({ origin: { user_id: null, conversation_id: 'conv_1' } }), 'conv_1')
  assert.is(findOwner({ origin: {} }), undefined)
})

test('embedding the query and reading the passages of a search are in the turn of its caller', async () => {
  const models = new EmbeddedModels({ directory: '', logger })
  const jobs: unknown[] = []
  const reading: Reading = { words: new Uint32Array(), begins: new Float32Array(), ends: new Float32Array(), noAnswer: 0, relevance: 0 }
  models.pool.run = async (task, { owner, priority } = {}) => {
    jobs.push([task.question === undefined ? 'embed' : 'read', owner, priority])
    return task.question === undefined ? Float32Array.of(1) : reading
  }
  await models.embed(['query'], { priority: 'high', caller: 'token_1' })
  await models.read('query', ['passage', 'other passage'], undefined, 'token_1')
  assert.equal(jobs, [
    ['embed', 'token_1', 'high'],
    ['read', 'token_1', 'high'],
    ['read', 'token_1', 'high'],
  ])
})

test.run()
