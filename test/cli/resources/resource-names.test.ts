/** Names at the terminal: one that means several, one that means none, and one that is given twice. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { createAmbiguousNameError } from '../../../src/cli/resources/ambiguous-names.ts'
import { agentTopic } from '../../../src/cli/resources/topics/agents.ts'
import { formatDuplicateName } from '../../../src/cli/resources/verbs/create.ts'
import { openTerminal, type Terminal } from '../../harness/cli.ts'
import { aloud } from '../../harness/hooks.ts'

const test = suite('names at the terminal')
let terminal: Terminal
let first: string
let second: string
test.before(
  aloud(async () => {
    terminal = openTerminal()
    await terminal.json(['models', 'create', '--name', 'Local Llama', '--provider', 'ollama', '--model-id', 'llama3.2'])
    first = await made(['agents', 'create', '--name', 'Helper', '--model', 'Local Llama'])
    await terminal.json(['agents', 'create', '--name', 'Handbook helper'])
  }),
)
test.after(aloud(() => terminal.close()))

const made = async (words: readonly string[]): Promise<string> => (await terminal.json<{ id: string }>(words)).id

test('whoever gives a name a second time is told of the first, and how to call the second', async () => {
  const { code, stdout, stderr } = await terminal.run(['agents', 'create', '--name', 'Helper'])
  second = /agent_[0-9a-f-]{36}/.exec(stdout)?.[0] ?? ''
  assert.is(code, 0)
  assert.match(stderr, `There is another agent called Helper: ${first}. Call this one by its identifier, ${second}`)
  assert.match(stderr, `cadre agents update ${second} --name …`)
  assert.match(stderr, `Ask it something: cadre ask ${second} "…"`)
  const once = await terminal.run(['agents', 'create', '--name', 'Alone'])
  assert.not.match(once.stderr, 'another')
  const changed = await terminal.run(['agents', 'update', 'Alone', '--name', 'Handbook helper'])
  assert.match(changed.stderr, 'There is another agent called Handbook helper')
  const id = /agent_[0-9a-f-]{36}/.exec(changed.stdout)?.[0] ?? ''
  assert.not.match((await terminal.run(['agents', 'update', id, '--temperature', '1'])).stderr, 'another')
  await terminal.run(['agents', 'delete', id, '--yes'])
})

test('a name of several lines is told on one', () => {
  assert.match(
    formatDuplicateName(agentTopic, { id: 'agent_1', name: 'two\nlines' }, { id: 'agent_2' }),
    'There is another agent called two lines: agent_2.',
  )
})

test('a script is told nothing of it', async () => {
  const { code, stderr } = await terminal.run(['prompts', 'create', '--name', 'Twice', '--template', 'x', '--json'])
  const again = await terminal.run(['prompts', 'create', '--name', 'Twice', '--template', 'y', '--output', 'yaml'])
  assert.equal([code, again.code], [0, 0])
  assert.not.match(stderr + again.stderr, 'another')
})

test('a name of several is answered with what tells them apart, and the same command for one of them', async () => {
  const { code, stdout, stderr } = await terminal.run(['agents', 'show', 'Helper'])
  assert.equal([code, stdout], [2, ''])
  const lines = stderr.split('\n')
  assert.is(lines[0], 'Error: 2 agents are called "Helper".')
  assert.match(lines[1] ?? '', new RegExp(`^  ${second}: created \\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d, the default model$`))
  assert.match(lines[2] ?? '', new RegExp(`^  ${first}: created \\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d, model Local Llama$`))
  assert.is(lines[3], `Use the identifier of the one you mean: cadre agents show ${second}`)
  assert.match((await terminal.run(['ask', 'Helper', 'How many days?'])).stderr, `cadre ask ${second} 'How many days?'\n`)
  const json = JSON.parse((await terminal.run(['agents', 'show', 'Helper', '--json'])).stderr) as { details: { field: string }[] }
  assert.equal(
    json.details.map(({ field }) => field),
    [second, first],
  )
})

test('conversations of the same question are told apart by their agent and when they were last changed', async () => {
  const other = await made(['agents', 'create', '--name', 'Other'])
  const ids: string[] = []
  for (const agent of [first, other]) ids.push(await made(['conversations', 'create', '--agent', agent, '--title', 'How many days?']))
  const { code, stderr } = await terminal.run(['conversations', 'show', 'How many days?'])
  assert.is(code, 2)
  assert.match(stderr, '2 conversations are called "How many days?".')
  assert.match(stderr, new RegExp(`${ids[0]}: created .*, agent Helper, changed `))
  assert.match(stderr, new RegExp(`${ids[1]}: created .*, agent Other, changed `))
  assert.match(stderr, `cadre conversations show ${ids[1]}\n`)
})

test('of many five are shown, and how to see the rest; a secret is not repeated', () => {
  const many = Array.from({ length: 7 }, (_, index) => ({ id: `agent_${index}` }))
  const sought = { value: 'Helper', noun: 'agent', label: 'name', commands: ['agents'] }
  const { details, hint } = createAmbiguousNameError(many, 12, sought, ['agents', 'show', '--json', 'Helper'])
  assert.is(details?.length, 5)
  assert.is(
    hint,
    'Use the identifier of the one you mean: cadre agents show --json agent_0\n7 more: cadre agents list --filter name=Helper',
  )
  const keyed = createAmbiguousNameError(many, 7, sought, ['models', 'create', '--model=Helper', '--api-key', 'sk-canary'])
  assert.not.match(keyed.hint ?? '', 'canary')
  assert.match(createAmbiguousNameError(many, 7, sought, ['ask', '--agent=Helper', 'Why?']).hint ?? '', "cadre ask --agent=agent_0 'Why?'")
})

const UNKNOWN: [string[], string][] = [
  [['agents', 'show', 'Helpr'], 'There is no agent "Helpr".\nDid you mean "Helper"? cadre agents list shows what there is.\n'],
  [
    ['agents', 'show', 'handbook'],
    'There is no agent "handbook".\nDid you mean "Handbook helper"? cadre agents list shows what there is.\n',
  ],
  [['agents', 'show', 'Zebra'], 'There is no agent "Zebra".\ncadre agents list shows what there is.\n'],
  [
    ['agents', 'create', '--name', 'x', '--model', 'Local Lama'],
    'There is no model "Local Lama".\nDid you mean "Local Llama"? cadre models list',
  ],
  [['models', 'default', 'llama3.1'], 'There is no model "llama3.1".\nDid you mean "llama3.2"? cadre models list'],
  [
    ['agents', 'create', '--name', 'x', '--tool', 'nope'],
    'There is no tool "nope".\ncadre rag list or cadre retrieval list or cadre tools list',
  ],
  [['ask', 'Helpr', 'how', 'many'], 'Did you mean "Helper"? cadre agents list shows what there is. If it is a part of the question'],
]
for (const [words, said] of UNKNOWN)
  test(`what nobody is called is answered with what was meant: cadre ${words.join(' ')}`, async () => {
    const { code, stderr } = await terminal.run(words)
    assert.is(code, 3)
    assert.match(stderr, said)
  })

test("a model is still found by its provider's name for it", async () => {
  const agent = await terminal.json(['agents', 'create', '--name', 'By provider', '--model', 'llama3.2'])
  assert.is(agent.model_id, (await terminal.json(['models', 'show', 'Local Llama'])).id)
})

test.run()
