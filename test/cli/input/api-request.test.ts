import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { buildApiRequest } from '../../../src/cli/input/api-request.ts'
import { InputReader } from '../../../src/cli/input/input-reader.ts'

const test = suite('the request of cadre api')

const getPath = async (path: string) => (await buildApiRequest(path, undefined, {} as never, new InputReader())).path

test('/api is added, except to documentation and the OpenAI-compatible API', async () => {
  assert.is(await getPath('agents'), '/api/agents')
  assert.is(await getPath('/api/agents'), '/api/agents')
  assert.is(await getPath('/docs'), '/docs')
  assert.is(await getPath('/v1/agents'), '/api/v1/agents')
  for (const path of ['/v1/models', '/v1/models/Helper', '/v1/chat/completions', '/v1/responses/resp_1', '/v1/embeddings?x=1'])
    assert.is(await getPath(path), path)
  assert.is(await getPath('/v1/modelsX'), '/api/v1/modelsX')
})

test.run()
