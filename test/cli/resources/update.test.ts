/** What `update` changes and prints: single tools of agents, prices and names of thresholds. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openTerminal, type Terminal } from '../../harness/cli.ts'
import { reportFailure } from '../../harness/hooks.ts'
import type { Json } from '../../harness/test-server.ts'

const test = suite('update at the terminal')
let terminal: Terminal
let source: Json
let tool: Json

test.before(
  reportFailure(async () => {
    terminal = openTerminal()
    await terminal.run(['daemon', 'start'])
    await create('/models', { name: 'llama', provider: 'ollama', model_id: 'llama3.2' })
    source = await create('/knowledge-sources', { name: 'Handbook', type: 'file' })
    tool = await create('/rag-tools', { name: 'handbook', knowledge_source_id: source.id })
  }),
)
test.after(reportFailure(() => terminal.close()))

async function create(path: string, body: object): Promise<Json> {
  const { status, data } = await terminal.request('POST', path, body)
  assert.is(status, 201, path)
  return data
}

test('update prints what changed', async () => {
  await create('/agents', { name: 'changing', temperature: 0.2 })
  const words = ['--temperature', '0.7', '--model', 'llama', '--system-prompt', 'Answer briefly. '.repeat(10)]
  const { stderr } = await terminal.run(['agents', 'update', 'changing', ...words])
  assert.match(stderr, /^Updated agent changing \(agent_.*\)\.\n {2}system prompt: changed\n {2}model: the default model → llama\n/)
  assert.match(stderr, '  temperature: 0.2 → 0.7\n')
})

test('an empty name of a reference is rejected with the way to clear it', async () => {
  await create('/agents', { name: 'emptied' })
  const { code, stderr } = await terminal.run(['agents', 'update', 'emptied', '--model', ''])
  assert.equal([code, stderr], [2, 'Error: --model needs a name or an ID.\nTo clear it: --model null\n'])
})

test('commands that the service suggests name a resource as the user did', async () => {
  const { id } = await create('/agents', { name: 'tested' })
  await create('/evaluations', { name: 'my cases', type: 'agent', target_id: id, test_cases: [{ input: 'q' }] })
  const { code, stderr } = await terminal.run(['evaluations', 'results', 'my cases'])
  assert.is(code, 3)
  assert.match(stderr, /Start one: cadre evaluations run 'my cases' \(POST \/api\/evaluations\/eval_[0-9a-f-]+\/run\)\./)
})

test('agents update --add-tool and --remove-tool change single tools and print them', async () => {
  const [wiki, shop] = [
    await create('/rag-tools', { name: 'wiki', knowledge_source_id: source.id }),
    await create('/retrieval-tools', { name: 'shop', knowledge_source_ids: [source.id] }),
  ]
  const { id } = await create('/agents', { name: 'tooled', tools: [tool.id] })
  const tools = async () => (await terminal.request('GET', `/agents/${id}`)).data.tools
  const added = await terminal.run(['agents', 'update', 'tooled', '--add-tool', 'wiki,shop', '--add-tool', 'handbook'])
  assert.equal(await tools(), [tool.id, wiki.id, shop.id])
  assert.match(added.stderr, '  tools: added wiki, shop\n')
  const changed = await terminal.run(['agents', 'update', 'tooled', '--remove-tool', 'handbook', '--remove-tool', wiki.id])
  assert.equal(await tools(), [shop.id])
  assert.match(changed.stderr, '  tools: removed handbook, wiki\n')
  const unknown = await terminal.run(['agents', 'update', 'tooled', '--remove-tool', 'handbook'])
  assert.equal([unknown.code, unknown.stderr], [2, 'Error: The agent has no tool "handbook".\n'])
})

test('agents update --tool removes other tools only with --replace-tools', async () => {
  const { id } = await create('/agents', { name: 'guarded', tools: [tool.id] })
  const tools = async () => (await terminal.request('GET', `/agents/${id}`)).data.tools
  const refused = await terminal.run(['agents', 'update', 'guarded', '--tool', 'wiki'])
  assert.is(refused.code, 2)
  assert.match(refused.stderr, '--tool would remove 1 tool of the agent: handbook.')
  assert.match(refused.stderr, 'use --add-tool instead. To replace all tools, add --replace-tools.')
  assert.is((await terminal.run(['agents', 'update', 'guarded', '--tool', 'wiki', '--add-tool', 'shop'])).code, 2)
  assert.equal(await tools(), [tool.id])
  assert.is((await terminal.run(['agents', 'update', 'guarded', '--tool', 'handbook,wiki'])).code, 0)
  const replaced = await terminal.run(['agents', 'update', 'guarded', '--tool', 'wiki', '--replace-tools'])
  assert.match(replaced.stderr, '  tools: removed handbook\n')
  assert.is((await terminal.run(['agents', 'update', 'guarded', '--tool', '', '--replace-tools'])).code, 0)
  assert.equal(await tools(), [])
})

test('--pricing accepts the forms of its help, and prices are shown per million tokens', async () => {
  const help = (await terminal.run(['models', 'create', '--help'])).stdout
  assert.match(help, '--pricing=<json|@file|key=value,key=value>')
  writeFileSync(join(terminal.home, '..', 'prices.json'), '{"input_per_million": 0.15, "output_per_million": 0.6}')
  const pricing = { input_per_million: 0.15, output_per_million: 0.6 }
  for (const given of [
    ['--pricing', 'input_per_million=0.15,output_per_million=0.6'],
    ['--pricing', 'input_per_million=0.15', '--pricing', 'output_per_million=0.6'],
    ['--pricing', JSON.stringify(pricing)],
    ['--pricing', '@prices.json'],
  ])
    assert.equal((await terminal.json(['models', 'update', 'llama', ...given])).pricing, pricing)
  const old = await terminal.run(['models', 'update', 'llama', '--pricing', 'input_per_1k=0.0011,output_per_1k=0.015'])
  assert.match(old.stdout, /pricing +input_per_million: 1\.1\n +output_per_million: 15\n/)
  assert.equal((await terminal.json(['models', 'show', 'llama'])).pricing, { input_per_1k: 0.0011, output_per_1k: 0.015 })
})

test('usage thresholds are named', async () => {
  const words = ['--name', 'Monthly budget', '--metric', 'cost', '--limit', '20', '--period', 'month']
  const { id } = await terminal.json(['usage', 'thresholds', 'create', ...words])
  assert.is((await terminal.json(['usage', 'thresholds', 'show', 'Monthly budget'])).id, id)
  const raised = await terminal.run(['usage', 'thresholds', 'update', 'Monthly budget', '--limit', '30'])
  assert.match(raised.stderr, 'Updated usage threshold Monthly budget (')
  assert.match((await terminal.run(['usage', 'thresholds', 'list'])).stdout, /^Monthly budget {2}notifies only\n/)
  assert.is((await terminal.run(['usage', 'thresholds', 'delete', 'Monthly budget', '--yes'])).code, 0)
})

test.run()
