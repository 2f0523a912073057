/** The five verbs of every family, against a real daemon. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openTerminal, type Terminal } from '../../harness/cli.ts'
import { reportFailure } from '../../harness/hooks.ts'
import type { Json } from '../../harness/test-server.ts'

const test = suite('families at the terminal')
let terminal: Terminal
/** Resources that others refer to by name. */
let model: Json
let source: Json
let tool: Json
let agent: Json
test.before(
  reportFailure(async () => {
    terminal = openTerminal()
    source = await terminal.json(['knowledge', 'create', '--name', 'Handbook', '--file-types', 'md,pdf'])
    model = await create('/models', { name: 'llama', provider: 'ollama', model_id: 'llama3.2' })
    tool = await create('/rag-tools', { name: 'handbook', knowledge_source_id: source.id })
    agent = await create('/agents', { name: 'Helper' })
    await create('/prompt-templates', { name: 'tone', template: 'You help {{company}}.' })
  }),
)
test.after(reportFailure(() => terminal.close()))

async function create(path: string, body: object): Promise<Json> {
  const { status, data } = await terminal.request('POST', path, body)
  assert.is(status, 201, path)
  return data
}

interface Case {
  /** Path of the family in the REST API. */
  path: string
  create: string[]
  /** Expected fields of the created resource. */
  created: Record<string, unknown>
  update: string[]
  updated: Record<string, unknown>
  /** Name to use instead of the ID. */
  name?: string
}

const CASES: Record<string, Case> = {
  agents: {
    path: '/agents',
    create: ['--name', 'Second', '--model', 'llama', '--tool', 'handbook', '--temperature', '0.2', '--topics', 'leave,travel'],
    created: {
      temperature: 0.2,
      topics: [
        { name: 'leave', description: '' },
        { name: 'travel', description: '' },
      ],
    },
    update: ['--model', 'null', '--max-tokens', '10'],
    updated: { model_id: null, max_tokens: 10, temperature: 0.2 },
    name: 'Second',
  },
  prompts: {
    path: '/prompt-templates',
    create: ['--name', 'night', '--template', 'Good {{time}}', '--type', 'user'],
    created: { variables: ['time'], type: 'user' },
    update: ['--template', 'Good night'],
    updated: { variables: [], version: 2 },
    name: 'night',
  },
  knowledge: {
    path: '/knowledge-sources',
    create: ['--name', 'Pages', '--url', 'https://example.com', '--mode', 'site', '--max-depth', '2'],
    created: { type: 'url', configuration: { url: 'https://example.com', mode: 'site', max_depth: 2 } },
    update: ['--name', 'Site'],
    updated: { name: 'Site' },
    name: 'Site',
  },
  rag: {
    path: '/rag-tools',
    create: ['--name', 'second', '--knowledge-source-id', 'Handbook', '--top-k', '8', '--no-rerank'],
    created: { top_k: 8, chunk_size: 800, rerank: false },
    update: ['--chunk-size', '1000', '--rerank'],
    updated: { chunk_size: 1000, top_k: 8, rerank: true },
    name: 'second',
  },
  retrieval: {
    path: '/retrieval-tools',
    create: ['--name', 'find', '--knowledge-source', 'Handbook', '--search-method', 'semantic', '--rerank'],
    created: { search_method: 'semantic', rerank: true },
    update: ['--score-threshold', '0.5', '--no-rerank'],
    updated: { score_threshold: 0.5, rerank: false },
    name: 'find',
  },
  tools: {
    path: '/api-tools',
    create: ['--name', 'weather', '--url', 'https://api.example.com/{city}', '--headers', 'X-Key=hidden', '--requires-confirmation'],
    created: {
      header_names: ['X-Key'],
      requires_confirmation: true,
      parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
    },
    update: ['--no-requires-confirmation', '--timeout-ms', '500'],
    updated: { requires_confirmation: false, timeout_ms: 500 },
    name: 'weather',
  },
  models: {
    path: '/models',
    create: [
      '--name',
      'priced',
      '--provider',
      'openai',
      '--model-id',
      'gpt',
      '--pricing',
      'input=1',
      '--pricing',
      'output=2.5',
      '--api-key',
      '-',
    ],
    created: { pricing: { input: 1, output: 2.5 }, has_api_key: true },
    update: ['--api-key', 'null', '--pricing', 'null'],
    updated: { has_api_key: false, pricing: null },
    name: 'priced',
  },
  conversations: {
    path: '/conversations',
    create: ['--agent', 'Helper', '--user-id', 'ada', '--title', 'Leave'],
    created: { user_id: 'ada', status: 'active' },
    update: ['--title', 'Travel'],
    updated: { title: 'Travel' },
    name: 'Travel',
  },
  evaluations: {
    path: '/evaluations',
    create: [
      '--name',
      'check',
      '--type',
      'agent',
      '--target',
      'Helper',
      '--test-cases',
      '[{"input":"a","expected_output":"b"}]',
      '--scorers',
      'exact,contains',
    ],
    created: { scorers: [{ type: 'exact' }, { type: 'contains' }] },
    update: ['--description', 'More'],
    updated: { description: 'More' },
    name: 'check',
  },
  webhooks: {
    path: '/webhooks',
    create: ['--url', 'https://hooks.example.com/x', '--events', 'conversation.completed,evaluation.finished'],
    created: { events: ['conversation.completed', 'evaluation.finished'] },
    update: ['--no-enabled'],
    updated: { enabled: false },
    name: 'https://hooks.example.com/x',
  },
  tokens: {
    path: '/tokens',
    create: ['--name', 'script', '--role', 'viewer'],
    created: { role: 'viewer' },
    update: ['--expires-at', '2099-01-01T00:00:00Z'],
    updated: { name: 'script' },
    name: 'script',
  },
  'usage thresholds': {
    path: '/usage/thresholds',
    create: ['--metric', 'tokens', '--limit', '1000', '--period', 'day', '--entity-type', 'agent', '--entity', 'Helper'],
    created: { limit: 1000, action: 'notify' },
    update: ['--action', 'block'],
    updated: { action: 'block' },
  },
}

const assertFields = (found: Record<string, unknown>, wanted: Record<string, unknown>) => {
  for (const [name, value] of Object.entries(wanted)) assert.equal(found[name], value, name)
}

for (const [family, { path, create: flags, created, update, updated, name }] of Object.entries(CASES)) {
  const topic = family.split(' ')
  test(`${family}: create, show, list, update and delete`, async () => {
    const made = await terminal.json([...topic, 'create', ...flags], flags.includes('-') ? { input: 'sk-from-stdin\n' } : {})
    assertFields(made, created)
    const id = String(made.id)
    const changed = await terminal.json([...topic, 'update', id, ...update])
    assertFields(changed, updated)
    assertFields(await terminal.json([...topic, 'show', name ?? id]), { id, ...updated })
    const listed = await terminal.json<{ id: string }[]>([...topic, 'list', '--all'])
    assert.ok(listed.some((one) => one.id === id))
    const gone = await terminal.run([...topic, 'delete', name ?? id, '--yes'])
    assert.is(gone.code, 0, gone.stderr)
    assert.is((await terminal.request('GET', `${path}/${id}`)).status, 404)
  })
}

test('names in flags are resolved to IDs', async () => {
  const named = await terminal.json(['agents', 'create', '--name', 'named', '--model-id', 'llama', '--tools', 'handbook'])
  assert.equal([named.model_id, named.tools], [model.id, [tool.id]])
})

test('show of an unknown ID exits with 3', async () => {
  assert.is((await terminal.run(['agents', 'show', 'agent_unknown'])).code, 3)
})

test('an ambiguous name is rejected with the IDs of both resources', async () => {
  const twins = [await create('/agents', { name: 'twin' }), await create('/agents', { name: 'twin' })]
  const { code, stderr } = await terminal.run(['agents', 'show', 'twin'])
  assert.is(code, 2)
  for (const { id } of twins) assert.match(stderr, String(id))
})

test('a resource in use is deleted only with --force, and its users are named', async () => {
  const used = await create('/knowledge-sources', { name: 'used', type: 'file' })
  const user = await create('/rag-tools', { name: 'user', knowledge_source_id: used.id })
  const refused = await terminal.run(['knowledge', 'delete', 'used', '--yes'])
  assert.is(refused.code, 1)
  assert.match(refused.stderr, user.id)
  assert.match(refused.stderr, '--force')
  assert.is((await terminal.run(['knowledge', 'delete', 'used', '--yes', '--force'])).code, 0)
  assert.is((await terminal.request('GET', `/rag-tools/${user.id}`)).data.knowledge_source_id, null)
})

test('the error for a model that cannot be deleted does not suggest --force', async () => {
  const { code, stderr } = await terminal.run(['models', 'delete', 'Embedded', '--yes'])
  assert.is(code, 1)
  assert.match(stderr, 'part of Cadre')
  assert.not.match(stderr, '--force')
})

test('create warns that a token is shown only once', async () => {
  const { stderr } = await terminal.run(['tokens', 'create', '--name', 'once', '--role', 'viewer'])
  assert.match(stderr, 'Save the token now: it is not shown again.')
  assert.not.match((await terminal.run(['agents', 'create', '--name', 'open'])).stderr, 'not shown again')
})

test('delete accepts several names', async () => {
  for (const name of ['one', 'two']) await create('/agents', { name })
  const { code, stdout } = await terminal.run(['agents', 'delete', 'one', 'two', '--yes', '--json'])
  assert.is(code, 0)
  assert.is((JSON.parse(stdout) as unknown[]).length, 2)
})

test('documents are uploaded, listed, shown and deleted by name', async () => {
  writeFileSync(join(terminal.home, '..', 'leave.md'), '# Leave\n')
  const [first, second] = await terminal
    .json<Record<string, unknown>[]>(['knowledge', 'documents', 'add', 'Handbook', 'leave.md', '-', '--no-index'], { input: 'x' })
    .catch((error: Error) => [{ error: error.message }])
  assert.match(String(first?.error), 'needs a name')
  assert.is(second, undefined)
  const sent = await terminal.json(['knowledge', 'documents', 'add', 'Handbook', 'leave.md', '--metadata', 'team=people', '--no-index'])
  assertFields(sent, { name: 'leave.md', size: 8, metadata: { team: 'people' }, status: 'waiting' })
  const piped = await terminal.json(['knowledge', 'documents', 'add', 'Handbook', '-', '--name', 'travel.md'], { input: 'by train' })
  assertFields(piped, { name: 'travel.md', size: 8 })
  const listed = await terminal.json<{ name: string }[]>(['knowledge', 'documents', 'list', 'Handbook', '--sort', 'name', '--order', 'asc'])
  assert.equal(
    listed.map(({ name }) => name),
    ['leave.md', 'travel.md'],
  )
  assertFields(await terminal.json(['knowledge', 'documents', 'show', 'Handbook', 'travel.md']), { id: piped.id })
  assert.is((await terminal.run(['knowledge', 'documents', 'delete', 'Handbook', 'leave.md', 'travel.md', '-y'])).code, 0)
  assert.equal((await terminal.request('GET', `/knowledge-sources/${source.id}/documents`)).data, [])
})

test('prompts render prints plain text', async () => {
  const { stdout } = await terminal.run(['prompts', 'render', 'tone', '--var', 'company=Acme'])
  assert.is(stdout, 'You help Acme.\n')
})

test('conversations complete completes a conversation, and messages lists its messages', async () => {
  await create('/conversations', { agent_id: agent.id, user_id: 'ada', title: 'Soon over' })
  assertFields(await terminal.json(['conversations', 'complete', 'Soon over']), { status: 'completed' })
  assert.equal(await terminal.json(['conversations', 'messages', 'Soon over']), [])
  const mine = await terminal.json<{ status: string }[]>(['conversations', 'list', '--agent', 'Helper', '--status', 'completed'])
  assert.is(mine.length, 1)
})

test.run()
