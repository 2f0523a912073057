/** Tests of missing questions and unnamed agents in all commands that take a question. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openTerminal, type Terminal } from '../../harness/cli.ts'
import { reportFailure } from '../../harness/hooks.ts'

const test = suite('questions at the terminal')
let terminal: Terminal
let helper: string
test.before(
  reportFailure(async () => {
    terminal = openTerminal()
    await terminal.run(['daemon', 'start'])
    helper = await createId('/agents', { name: 'Helper' })
  }),
)
test.after(reportFailure(() => terminal.close()))

const createId = async (path: string, body: object): Promise<string> => (await terminal.request('POST', path, body)).data.id

async function createSearch(name: string): Promise<string> {
  const source = await createId('/knowledge-sources', { name, type: 'file' })
  return createId('/retrieval-tools', { name, knowledge_source_ids: [source] })
}

const EXAMPLE = '"How many days of leave do I have?"'
const MISSING: [words: string[], command: string][] = [
  [['ask'], 'cadre ask'],
  [['ask', ''], 'cadre ask'],
  [['ask', '--agent', 'Helper'], 'cadre ask Helper'],
  [['ask', 'Helper'], 'cadre ask Helper'],
  [['ask', 'Helper', '  '], 'cadre ask Helper'],
  [['ask', '--continue'], 'cadre ask --continue'],
  [['ask', '-c', 'Leave in summer'], "cadre ask --conversation 'Leave in summer'"],
  [['rag', 'query', 'handbook'], 'cadre rag query handbook'],
  [['rag', 'query', 'handbook', ' '], 'cadre rag query handbook'],
  [['retrieval', 'search', 'my find'], "cadre retrieval search 'my find'"],
  [['retrieval', 'search', 'find', ''], 'cadre retrieval search find'],
]
for (const [words, command] of MISSING)
  test(`a missing question is reported with an example: cadre ${words.join(' ')}`, async () => {
    const { code, stdout, stderr } = await terminal.run(words)
    assert.equal([code, stdout, stderr], [2, '', `Error: There is no question.\nFor example: ${command} ${EXAMPLE}\n`])
  })

test('a question in place of the name of a tool is reported with the existing tools', async () => {
  const question = 'How do I reset the router?'
  const search = (words: string[]) => terminal.run(['retrieval', 'search', ...words])
  const none = 'There is no retrieval tool yet. To create one: cadre retrieval create --name docs --knowledge-source NAME'
  const message = 'Error: cadre retrieval search needs the name of a retrieval tool before the question.'
  assert.equal((await search([question])).stderr.split('\n'), [message, none, ''])
  const ids = [await createSearch('my docs')]
  const one = ['There is one retrieval tool: my docs', `For example: cadre retrieval search 'my docs' '${question}'`]
  for (const words of [[question], [question, 'Soon.']]) {
    const { code, stderr } = await search(words)
    assert.equal([code, stderr.split('\n').slice(0, 2)], [2, [message, one[0]]])
  }
  assert.is((await search([question])).stderr.split('\n')[2], one[1])
  ids.push(await createSearch('other'))
  assert.match((await search([question])).stderr, 'There are these retrieval tools: other, my docs\n')
  const unquoted = await search(['How', 'many?', 'Two?'])
  assert.is(unquoted.code, 3)
  assert.match(unquoted.stderr, "write the name of a retrieval tool before it: cadre retrieval search other 'How many? Two?'")
  for (const id of ids) await terminal.request('DELETE', `/retrieval-tools/${id}`)
})

test('a second name before the question is reported, unless the question is quoted', async () => {
  const ids = [await createSearch('docs'), await createSearch('docs2')]
  const search = (words: string[]) => terminal.run(['retrieval', 'search', ...words])
  const { code, stderr } = await search(['docs2', 'docs', 'hi', 'there'])
  assert.is(code, 2)
  assert.equal(stderr.split('\n'), [
    'Error: "docs" is the name of another retrieval tool.',
    "To ask it: cadre retrieval search docs 'hi there'",
    "If it is part of the question, quote the question: cadre retrieval search docs2 'docs hi there'",
    '',
  ])
  for (const words of [
    ['docs2', 'docs hi'],
    ['docs2', 'docs'],
    ['docs2', 'hi', 'docs'],
  ])
    assert.is((await search(words)).code, 0, words.join(' '))
  for (const id of ids) await terminal.request('DELETE', `/retrieval-tools/${id}`)
  const other = await createId('/agents', { name: 'Second' })
  assert.match(
    (await terminal.run(['ask', 'Helper', 'Second', 'hi'])).stderr,
    '"Second" is the name of another agent.\nTo ask it: cadre ask Second hi',
  )
  await terminal.request('DELETE', `/agents/${other}`)
})

test('a question in place of the title of a conversation is reported with --continue', async () => {
  const missing = await terminal.run(['ask', '-c', 'And Hooli?'])
  assert.equal(
    [missing.code, missing.stderr.split('\n')],
    [
      2,
      [
        'Error: --conversation (-c) needs the ID or title of a conversation, not "And Hooli?".',
        "To continue your last conversation: cadre ask --continue 'And Hooli?'",
        '',
      ],
    ],
  )
  const unknown = await terminal.run(['ask', '-c', 'And Hooli?', 'Since', 'when?'])
  assert.equal(
    [unknown.code, unknown.stderr.split('\n')[1]],
    [3, "To continue your last conversation: cadre ask --continue 'And Hooli? Since when?'"],
  )
  const conversation = await createId('/conversations', { agent_id: helper, title: 'And Hooli?' })
  assert.match((await terminal.run(['ask', '-c', 'And Hooli?'])).stderr, "For example: cadre ask --conversation 'And Hooli?' ")
  await terminal.request('DELETE', `/conversations/${conversation}`)
})

test('an empty stdin is reported as a missing question', async () => {
  for (const [words, command] of [
    [['ask'], 'cadre ask'],
    [['ask', '-'], 'cadre ask'],
    [['ask', 'Helper'], 'cadre ask Helper'],
    [['ask', 'Helper', '-'], 'cadre ask Helper'],
    [['rag', 'query', 'handbook'], 'cadre rag query handbook'],
    [['rag', 'query', 'handbook', '-'], 'cadre rag query handbook'],
    [['retrieval', 'search', 'find', '-'], 'cadre retrieval search find'],
  ] as [string[], string][]) {
    const { code, stderr } = await terminal.run(words, { input: ' \n' })
    assert.equal([code, stderr], [2, `Error: There is no question: stdin is empty.\nFor example: ${command} ${EXAMPLE}\n`], words.join(' '))
  }
})

test('rag query reads the question from stdin if there are no words', async () => {
  const { code, stderr } = await terminal.run(['rag', 'query', 'handbook'], { input: 'How many?\n' })
  assert.equal([code, stderr.split('\n')[0]], [3, 'Error: There is no RAG tool "handbook".'], 'the question was read')
})

test('a search in a source without documents reports that source', async () => {
  const knowledge_source_id = await createId('/knowledge-sources', { name: 'My notes', type: 'file' })
  const tool = await createId('/rag-tools', { name: 'notes', knowledge_source_id })
  const reader = await createId('/agents', { name: 'Reader', tools: [tool] })
  for (const words of [
    ['ask', '--agent', 'Reader', 'How many?'],
    ['rag', 'query', 'notes', 'How many?'],
  ]) {
    const { code, stderr } = await terminal.run(words)
    assert.equal([code, stderr.split('\n').at(-2)], [0, "My notes has no documents. To sync it: cadre knowledge sync 'My notes'"])
  }
  assert.is((await terminal.run(['ask', '--quiet', '--agent', 'Reader', 'How many?'])).stderr, '')
  await terminal.request('DELETE', `/agents/${reader}?force=true`)
})

test('ask and chat use the configured or only agent, and fail if there are several', async () => {
  const chat = (words: string[] = []) => terminal.run(['chat', '--plain', ...words], { input: '' })
  assert.match((await chat()).stdout, /^Helper, /)
  assert.is((await terminal.run(['ask', 'How many?'])).code, 0)
  const other = await createId('/agents', { name: 'Other' })
  await createId('/conversations', { agent_id: helper })
  for (const [ran, command] of [
    [await chat(), 'cadre chat Other'],
    [await terminal.run(['ask', 'How many?']), 'cadre ask Other "…"'],
  ] as const) {
    assert.is(ran.code, 2)
    assert.is(
      ran.stderr,
      'Error: There are 2 agents, and none is selected: Other, Helper.\n' +
        `Specify one: ${command}. To set a default: cadre config set agent Other\n`,
    )
  }
  assert.is((await terminal.run(['config', 'set', 'agent', 'Nobody'])).code, 3)
  await terminal.run(['config', 'set', 'agent', 'Other'])
  assert.match((await chat()).stdout, /^Other, /)
  assert.is((await terminal.run(['ask', 'How many?'])).code, 0)
  await terminal.request('DELETE', `/agents/${other}?force=true`)
  for (const ran of [await chat(), await terminal.run(['ask', 'How many?'])]) {
    assert.is(ran.code, 3)
    assert.match(ran.stderr, /^Error: The configured agent "Other" does not exist\.\n.*cadre config unset agent/)
  }
  await terminal.run(['config', 'unset', 'agent'])
})

test('agents whose names are ambiguous or cannot be typed are listed with their identifiers', async () => {
  for (const [name, shown] of [
    ['Helper', 'Helper'],
    ['two\nlines', 'two lines'],
  ] as const) {
    const id = await createId('/agents', { name })
    const { stderr } = await terminal.run(['ask', 'How many?'])
    assert.match(stderr.split('\n')[0] ?? '', `: ${shown} (${id}), `)
    assert.match(stderr, `Specify one: cadre ask ${id} "…"`)
  }
})

test.run()
