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
