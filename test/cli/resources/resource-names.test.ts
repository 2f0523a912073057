/** Ambiguous, unknown and duplicate names. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { createAmbiguousNameError } from '../../../src/cli/resources/name-errors.ts'
import { agentTopic } from '../../../src/cli/resources/topics/agents.ts'
import { webhookTopic } from '../../../src/cli/resources/topics/webhooks.ts'
import { formatDuplicateName } from '../../../src/cli/resources/verbs/create.ts'
import { openTerminal, type Terminal } from '../../harness/cli.ts'
import { reportFailure } from '../../harness/hooks.ts'

const test = suite('resource names')
let terminal: Terminal
let first: string
let second: string
test.before(
  reportFailure(async () => {
    terminal = openTerminal()
    await terminal.json(['models', 'create', '--name', 'Local Llama', '--provider', 'ollama', '--model-id', 'llama3.2'])
    first = await createId(['agents', 'create', '--name', 'Helper', '--model', 'Local Llama'])
    await terminal.json(['agents', 'create', '--name', 'Handbook helper'])
  }),
)
test.after(reportFailure(() => terminal.close()))

const createId = async (words: readonly string[]): Promise<string> => (await terminal.json<{ id: string }>(words)).id

test('create and update report a duplicate name and how to refer to the new resource', async () => {
  const { code, stdout, stderr } = await terminal.run(['agents', 'create', '--name', 'Helper'])
  second = /agent_[0-9a-f-]{36}/.exec(stdout)?.[0] ?? ''
  assert.is(code, 0)
  assert.match(stderr, `Another agent is named Helper: ${first}. Refer to this one by its ID, ${second}`)
  assert.match(stderr, `cadre agents update ${second} --name …`)
  assert.match(stderr, `Ask it a question: cadre ask ${second} "…"`)
  const once = await terminal.run(['agents', 'create', '--name', 'Alone'])
  assert.not.match(once.stderr, 'Another')
  const changed = await terminal.run(['agents', 'update', 'Alone', '--name', 'Handbook helper'])
  assert.match(changed.stderr, 'Another agent is named Handbook helper')
  const id = /agent_[0-9a-f-]{36}/.exec(changed.stdout)?.[0] ?? ''
  assert.not.match((await terminal.run(['agents', 'update', id, '--temperature', '1'])).stderr, 'Another')
  await terminal.run(['agents', 'delete', id, '--yes'])
})

test('a name with line breaks is printed on one line', () => {
  assert.match(
    formatDuplicateName(agentTopic, { id: 'agent_1', name: 'two\nlines' }, { id: 'agent_2' }),
    'Another agent is named two lines: agent_2.',
  )
})

test('a second webhook for a URL is reported with the command that deletes it', () => {
  assert.is(
    formatDuplicateName(webhookTopic, { id: 'hook_2', url: 'https://a.example/' }, { id: 'hook_1' }),
    'Another webhook is named https://a.example/: hook_1. Refer to this one by its ID, hook_2, or delete it: cadre webhooks delete hook_2',
  )
})

test('duplicate names are not reported with --json or --output yaml', async () => {
  const { code, stderr } = await terminal.run(['prompts', 'create', '--name', 'Twice', '--template', 'x', '--json'])
  const again = await terminal.run(['prompts', 'create', '--name', 'Twice', '--template', 'y', '--output', 'yaml'])
  assert.equal([code, again.code], [0, 0])
  assert.not.match(stderr + again.stderr, 'Another')
})

test('an ambiguous name lists the differences and the same command with an ID', async () => {
  const { code, stdout, stderr } = await terminal.run(['agents', 'show', 'Helper'])
  assert.equal([code, stdout], [2, ''])
  const lines = stderr.split('\n')
  assert.is(lines[0], 'Error: 2 agents are named "Helper".')
  assert.match(lines[1] ?? '', new RegExp(`^  ${second}: created \\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d, the default model$`))
  assert.match(lines[2] ?? '', new RegExp(`^  ${first}: created \\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d, model Local Llama$`))
  assert.is(lines[3], `Use the ID of one of them: cadre agents show ${second}`)
  assert.match((await terminal.run(['ask', 'Helper', 'How many days?'])).stderr, `cadre ask ${second} 'How many days?'\n`)
  const json = JSON.parse((await terminal.run(['agents', 'show', 'Helper', '--json'])).stderr) as { details: { field: string }[] }
  assert.equal(
    json.details.map(({ field }) => field),
    [second, first],
  )
})

test('conversations with the same title are distinguished by agent and last update', async () => {
  const other = await createId(['agents', 'create', '--name', 'Other'])
  const ids: string[] = []
  for (const agent of [first, other]) ids.push(await createId(['conversations', 'create', '--agent', agent, '--title', 'How many days?']))
  const { code, stderr } = await terminal.run(['conversations', 'show', 'How many days?'])
  assert.is(code, 2)
  assert.match(stderr, '2 conversations are named "How many days?".')
  assert.match(stderr, new RegExp(`${ids[0]}: created .*, agent Helper, updated `))
  assert.match(stderr, new RegExp(`${ids[1]}: created .*, agent Other, updated `))
  assert.match(stderr, `cadre conversations show ${ids[1]}\n`)
})

test('an ambiguous name lists at most five resources and never repeats a secret', () => {
  const many = Array.from({ length: 7 }, (_, index) => ({ id: `agent_${index}` }))
  const query = { value: 'Helper', noun: 'agent', label: 'name', commands: ['agents'] }
  const { details, hint } = createAmbiguousNameError(many, 12, query, ['agents', 'show', '--json', 'Helper'])
  assert.is(details?.length, 5)
  assert.is(hint, 'Use the ID of one of them: cadre agents show --json agent_0\n7 more: cadre agents list --filter name=Helper')
  const keyed = createAmbiguousNameError(many, 7, query, ['models', 'create', '--model=Helper', '--api-key', 'sk-canary'])
  assert.not.match(keyed.hint ?? '', 'canary')
  assert.match(createAmbiguousNameError(many, 7, query, ['ask', '--agent=Helper', 'Why?']).hint ?? '', "cadre ask --agent=agent_0 'Why?'")
})

const UNKNOWN: [string[], string][] = [
  [['agents', 'show', 'Helpr'], 'There is no agent "Helpr".\nDid you mean "Helper"? To list all: cadre agents list\n'],
  [['agents', 'show', 'handbook'], 'There is no agent "handbook".\nDid you mean "Handbook helper"? To list all: cadre agents list\n'],
  [['agents', 'show', 'Zebra'], 'There is no agent "Zebra".\nTo list all: cadre agents list\n'],
  [
    ['agents', 'create', '--name', 'x', '--model', 'Local Lama'],
    'There is no model "Local Lama".\nDid you mean "Local Llama"? To list all: cadre models list',
  ],
  [['models', 'default', 'llama3.1'], 'There is no model "llama3.1".\nDid you mean "llama3.2"? To list all: cadre models list'],
  [
    ['agents', 'create', '--name', 'x', '--tool', 'nope'],
    'There is no tool "nope".\nTo list all: cadre rag list or cadre retrieval list or cadre tools list\n',
  ],
  [['ask', 'Helpr', 'how', 'many'], 'Did you mean "Helper"? To list all: cadre agents list\nIf it is part of the question'],
]
for (const [words, message] of UNKNOWN)
  test(`an unknown name is answered with suggestions: cadre ${words.join(' ')}`, async () => {
    const { code, stderr } = await terminal.run(words)
    assert.is(code, 3)
    assert.match(stderr, message)
  })

test("a model is also found by its provider's model name", async () => {
  const agent = await terminal.json(['agents', 'create', '--name', 'By provider', '--model', 'llama3.2'])
  assert.is(agent.model_id, (await terminal.json(['models', 'show', 'Local Llama'])).id)
})

test.run()
