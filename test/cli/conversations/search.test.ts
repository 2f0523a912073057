import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openTerminal, type Terminal } from '../../harness/cli.ts'
import { reportFailure } from '../../harness/hooks.ts'
import { ScriptedProvider, streamText } from '../../harness/scripted-provider.ts'

const test = suite('conversations search')
let terminal: Terminal
let provider: ScriptedProvider

test.before(
  reportFailure(async () => {
    terminal = openTerminal()
    provider = await ScriptedProvider.start('openai', streamText('Twenty-five days of \u0007annual leave.'))
    await terminal.json(['models', 'create', '--name', 'scripted', ...toFlags(provider.model)])
    for (const name of ['Helper', 'Other']) {
      const { id } = await terminal.json<{ id: string }>(['agents', 'create', '--name', name, '--model', 'scripted'])
      const conversation = (await terminal.request('POST', '/conversations', { agent_id: id, title: `Talk with ${name}` })).data.id
      await terminal.request('POST', `/conversations/${conversation}/messages`, { message: 'How many days of leave?' })
    }
  }),
)
test.after(
  reportFailure(async () => {
    await terminal.close()
    await provider.close()
  }),
)

const toFlags = (fields: Record<string, string>) =>
  Object.entries(fields).flatMap(([name, value]) => [`--${name.replaceAll('_', '-')}`, value])

test('conversations are printed with their agent, and the words found are highlighted', async () => {
  const environment = { ...terminal.environment, FORCE_COLOR: '1' }
  const { stdout, stderr, code } = await terminal.run(['conversations', 'search', 'annual', 'leave'], { environment })
  assert.is(code, 0, stderr)
  assert.match(stdout, /Talk with Other.*Other · .* · 1 matching message.*conv_.*Talk with Helper/s)
  assert.match(stdout, /Agent: Twenty-five days of \u001b\[33mannual\u001b\[39m \u001b\[33mleave\u001b\[39m\./)
  assert.match(stderr, /2 total/)
})

test('agent, period and phrase limit the search', async () => {
  const found = await terminal.json<{ title: string; match_count: number }[]>([
    'conversations',
    'search',
    'leave',
    '--agent',
    'Helper',
    '--days',
    '2',
  ])
  assert.equal(
    found.map(({ title, match_count }) => [title, match_count]),
    [['Talk with Helper', 2]],
  )
  const none = await terminal.run(['conversations', 'search', '"leave annual"'])
  assert.equal([none.code, none.stdout, none.stderr.trim()], [0, '', 'No messages match.'])
  assert.match((await terminal.run(['conversations', 'search', 'x', '--to', 'yesterday'])).stderr, /--to yesterday is not a date/)
})

test.run()
