/** Tests of the `models` commands: discover, default and test. */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { parseNumbers } from '../../../src/cli/terminal/prompts.ts'
import { openTerminal, type Terminal } from '../../harness/cli.ts'
import { reportFailure } from '../../harness/hooks.ts'
import { respondWithError, ScriptedProvider, streamText } from '../../harness/scripted-provider.ts'

const test = suite('models at the terminal')
let terminal: Terminal
let server: Server
let endpoint: string
let served = ['llama', 'qwen\u202e']

test.before(
  reportFailure(async () => {
    server = createServer((_, response) => {
      response.setHeader('content-type', 'application/json').end(JSON.stringify({ data: served.map((id) => ({ id })) }))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
    terminal = openTerminal({ CADRE_MODEL_SERVERS: endpoint, ANTHROPIC_API_KEY: 'sk-ant-not-a-real-key' })
  }),
)
test.after(
  reportFailure(async () => {
    await terminal.close()
    server.closeAllConnections()
    server.close()
  }),
)

interface DiscoveredModel {
  name: string
  model_id: string
  origin: string
  added: string | null
}

test('discover lists models without API keys and without bidirectional control characters', async () => {
  const { stdout, stderr } = await terminal.run(['models', 'discover'])
  assert.match(stdout, /^NAME +ORIGIN +ADDED +MODEL ID\n/)
  assert.match(stdout, 'ANTHROPIC_API_KEY')
  assert.not.match(stdout, /sk-ant|\u202e/)
  assert.match(stderr, 'cadre models discover --add')
})

test('a hosted model without a key is created with the command that adds the key', async () => {
  const create = async (...words: string[]) => (await terminal.run(['models', 'create', '--model-id', 'x', ...words])).stderr
  const hint = "It has no API key. To add one: cadre models update 'my gpt' --api-key -"
  assert.match(await create('--name', 'my gpt', '--provider', 'openai'), hint)
  assert.not.match(await create('--name', 'keyed', '--provider', 'openai', '--api-key', 'k'), 'API key')
  assert.not.match(await create('--name', 'local', '--provider', 'ollama'), 'API key')
})

test('discover --add adds a named model once', async () => {
  const added = await terminal.json<DiscoveredModel[]>(['models', 'discover', '--add', 'llama'])
  assert.equal([added.length, added[0]?.model_id], [1, 'llama'])
  const again = await terminal.run(['models', 'discover', '--add', 'llama', '--json'])
  assert.equal([again.code, again.stdout], [0, '[]\n'])
  assert.match(again.stderr, 'llama has already been added (model_')
  const found = await terminal.json<DiscoveredModel[]>(['models', 'discover'])
  assert.is(found.find(({ model_id }) => model_id === 'llama')?.added, (added[0] as unknown as { id: string }).id)
})

test('discover --add never adds a model twice', async () => {
  const count = async () => (await terminal.request('GET', '/models?limit=100')).data.length
  const before = await count()
  const twice = await terminal.run(['models', 'discover', '--add', 'ANTHROPIC_API_KEY=claude-x', 'ANTHROPIC_API_KEY=claude-x'])
  const again = await terminal.run(['models', 'discover', '--add', 'ANTHROPIC_API_KEY=claude-x'])
  assert.equal([twice.code, again.code, await count()], [0, 0, before + 1])
  assert.match(again.stderr, 'claude-x of ANTHROPIC_API_KEY was added already.')
})

test('discover --add KEY=MODEL adds any model of a provider with its API key', async () => {
  const [claude] = await terminal.json<{ model_id: string; has_api_key: boolean }[]>([
    'models',
    'discover',
    '--add',
    'ANTHROPIC_API_KEY=claude-opus-4-1',
  ])
  assert.equal([claude?.model_id, claude?.has_api_key], ['claude-opus-4-1', true])
})

test('discover reports unknown names and names without --add', async () => {
  const unknown = await terminal.run(['models', 'discover', '--add', 'gpt-oss'])
  assert.is(unknown.code, 3)
  assert.match(unknown.stderr, '--add ANTHROPIC_API_KEY=MODEL')
  const forgotten = await terminal.run(['models', 'discover', 'llama'])
  assert.is(forgotten.code, 2)
  assert.match(forgotten.stderr, 'cadre models discover --add llama')
})

test('discover --add without names adds all models if there is no terminal', async () => {
  served = ['llama', 'phi']
  const added = await terminal.json<DiscoveredModel[]>(['models', 'discover', '--add', '--default'])
  assert.equal(
    added.map(({ model_id }) => model_id),
    ['phi', 'claude-sonnet-4-5'],
  )
  assert.is((await terminal.json(['models', 'default'])).model_id, 'phi')
  assert.match((await terminal.run(['models', 'discover', '--add'])).stderr, 'All discovered models have already been added.')
})

test('default shows and sets the default model by name', async () => {
  const chosen = await terminal.run(['models', 'default', 'Embedded'])
  assert.equal([chosen.code, chosen.stdout], [0, 'Embedded (model_00000000-0000-7000-8000-000000000001)\n'])
  assert.is((await terminal.run(['models', 'default'])).stdout, chosen.stdout)
  assert.is((await terminal.run(['config', 'get', 'default-model'])).stdout, 'model_00000000-0000-7000-8000-000000000001\n')
  assert.not.equal((await terminal.run(['models', 'default', 'Nobody'])).code, 0)
})

test('test prints the reply of a model, and the error of one that fails', async () => {
  const provider = await ScriptedProvider.start('openai', streamText('Hello there.'))
  try {
    for (const name of ['good', 'bad'])
      await terminal.json([
        'models',
        'create',
        '--name',
        name,
        '--provider',
        'openai-compatible',
        '--model-id',
        name,
        '--endpoint',
        provider.url,
      ])
    const good = await terminal.run(['models', 'test', 'good'])
    assert.is(good.code, 0)
    assert.match(good.stdout, /^good answered in \d+ ms:\nHello there\.\n$/)
    provider.script = [respondWithError(401)]
    const bad = await terminal.run(['models', 'test', 'bad'])
    assert.is(bad.code, 1)
    assert.match(bad.stderr, 'scripted error 401')
    provider.script = [respondWithError(401), streamText('Hello.')]
    const both = await terminal.run(['models', 'test', 'bad', 'good', '--json'])
    assert.is(both.code, 1)
    assert.equal(
      (JSON.parse(both.stdout) as { ok: boolean }[]).map(({ ok }) => ok),
      [false, true],
    )
  } finally {
    await provider.close()
  }
})

test('an answer to a numbered choice accepts lists, ranges and all', () => {
  assert.equal(parseNumbers('', 3), [])
  assert.equal(parseNumbers('1, 3', 3), [1, 3])
  assert.equal(parseNumbers('1-3 2', 3), [1, 2, 3])
  assert.equal(parseNumbers('all', 2), [1, 2])
  for (const answer of ['0', '4', 'x', '3-1', '1,x', '-1', '1e3']) assert.is(parseNumbers(answer, 3), undefined, answer)
})

test.run()
