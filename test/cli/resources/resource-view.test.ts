/** Resources in tables and records: references by name, without empty fields. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { omitEmptyFields } from '../../../src/cli/resources/resource-view.ts'
import { openTerminal, type Terminal } from '../../harness/cli.ts'
import { reportFailure } from '../../harness/hooks.ts'

const test = suite('resource view')
let terminal: Terminal
let model: string
let tool: string
test.before(
  reportFailure(async () => {
    terminal = openTerminal()
    model = (
      await terminal.json<{ id: string }>(['models', 'create', '--name', 'Local Llama', '--provider', 'ollama', '--model-id', 'llama3.2'])
    ).id
    await terminal.json(['knowledge', 'create', '--name', 'Handbook'])
    tool = (await terminal.json<{ id: string }>(['rag', 'create', '--name', 'leave', '--knowledge-source', 'Handbook'])).id
  }),
)
test.after(reportFailure(() => terminal.close()))

const CREATE = ['agents', 'create', '--name', 'Helper', '--model', 'Local Llama', '--tool', 'leave']

test('agents create prints the given fields, references by name and a next command', async () => {
  const { code, stdout, stderr } = await terminal.run(CREATE)
  const id = /agent_\S+/.exec(stdout)?.[0]
  assert.equal(
    [code, stdout],
    [0, `id        ${id}\nname      Helper\nmodel id  Local Llama (${model})\ntools     leave (${tool})\nmemory    no\n`],
    'no empty fields and no timestamps',
  )
  assert.match(stderr, /Ask it a question: cadre ask Helper "…"\n$/)
})

test('an agent without a model shows the default model', async () => {
  assert.match((await terminal.run(['agents', 'create', '--name', 'Bare'])).stdout, /^model id {2}the default model$/m)
  assert.match((await terminal.run(['agents', 'show', 'Bare'])).stdout, /^model id +the default model$/m)
})

test('show and update print every field, and references as name and ID', async () => {
  for (const words of [
    ['agents', 'show', 'Helper'],
    ['agents', 'update', 'Helper', '--temperature', '0.2'],
  ]) {
    const { stdout } = await terminal.run(words)
    assert.match(stdout, new RegExp(`^tools +leave \\(${tool}\\)$`, 'm'))
    assert.match(stdout, new RegExp(`^model id +Local Llama \\(${model}\\)$`, 'm'))
    assert.match(stdout, /^max tokens +–$/m)
  }
  assert.match((await terminal.run(['rag', 'show', 'leave'])).stdout, /^knowledge source id +Handbook \(ks_/m)
})

test('lists show references by name', async () => {
  const { stdout } = await terminal.run(['agents', 'list', '--name', 'Helper'])
  assert.match(stdout, /^ID +NAME +MODEL +TOOLS +DESCRIPTION +CREATED AT\n/)
  assert.match(stdout, /Helper +Local Llama +leave +\d{4}-/)
  assert.match((await terminal.run(['rag', 'list'])).stdout, /KNOWLEDGE SOURCE.*\n.*leave +Handbook/)
})

test('JSON and CSV contain every field and IDs', async () => {
  for (const words of [CREATE, ['agents', 'show', 'Bare']]) {
    const agent = await terminal.json(words)
    assert.ok('max_tokens' in agent && 'created_at' in agent)
  }
  const [listed] = await terminal.json<Record<string, unknown>[]>(['agents', 'list', '--name', 'Helper'])
  assert.equal([listed?.model_id, listed?.tools], [model, [tool]])
  assert.match((await terminal.run(['agents', 'list', '--name', 'Helper', '--output', 'csv'])).stdout, model)
})

test('a caller without access to models sees their IDs', async () => {
  const { token } = await terminal.json<{ token: string }>(['tokens', 'create', '--name', 'member', '--role', 'member', '--user-id', 'ada'])
  const { code, stdout } = await terminal.run(['agents', 'list', '--name', 'Helper'], { environment: { CADRE_TOKEN: token } })
  assert.is(code, 0)
  assert.match(stdout, model)
})

test('omitEmptyFields keeps false and 0', () => {
  assert.equal(omitEmptyFields({ id: 'x', a: null, b: '', c: [], d: {}, e: false, f: 0, created_at: 'now' }), { id: 'x', e: false, f: 0 })
})

test.run()
