/** Tests of conversations of several users, as an admin sees them. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openTerminal, type Terminal } from '../../harness/cli.ts'
import { reportFailure } from '../../harness/hooks.ts'

const test = suite("others' conversations at the terminal")
let terminal: Terminal
const ids = { own: '', ada: '' }

test.before(
  reportFailure(async () => {
    terminal = openTerminal()
    await terminal.json(['agents', 'create', '--name', 'Helper'])
    ids.own = (await terminal.json<{ id: string }>(['conversations', 'create', '--agent', 'Helper', '--title', 'My own'])).id
    const { token } = await terminal.json<{ token: string }>(['tokens', 'create', '--name', 'ada', '--role', 'member', '--user-id', 'ada'])
    const environment = { CADRE_TOKEN: token }
    ids.ada = (
      await terminal.json<{ id: string }>(['conversations', 'create', '--agent', 'Helper', '--title', "Ada's"], { environment })
    ).id
  }),
)
test.after(reportFailure(() => terminal.close()))

test('list shows the owner of conversations of other users, and --mine omits them', async () => {
  const { stdout } = await terminal.run(['conversations', 'list'])
  assert.match(
    stdout,
    new RegExp(`^ID +TITLE +AGENT +OWNER +STATUS.*\\n${ids.ada} +Ada's +Helper +ada +active .*\\n${ids.own} +My own +Helper {2,}active `),
  )
  const mine = await terminal.run(['conversations', 'list', '--mine'])
  assert.match(mine.stdout, new RegExp(`^ID +TITLE +AGENT +STATUS.*\\n${ids.own} .*\\n$`))
})

test('chat --continue opens the newest own conversation, and /resume lists others with their owner', async () => {
  const { stdout, code, stderr } = await terminal.run(['chat', '--plain', '--continue'], { input: '/title Mine still\n/resume\n' })
  assert.is(code, 0, stderr)
  assert.match(stdout, new RegExp(`${ids.own} {2}Mine still {2}\\d\\d:\\d\\d\\n.*${ids.ada} {2}Ada's {2}\\d\\d:\\d\\d · ada\\n`))
})

test('--continue skips conversations of deleted agents, and reopens a completed one only if none is active', async () => {
  const create = (agent: string, title: string) => terminal.json(['conversations', 'create', '--agent', agent, '--title', title])
  /** Asserts that ask and chat continue the conversation with this title; the chat renames it to `next`. */
  const assertContinues = async (title: string, next: string) => {
    assert.match((await terminal.run(['ask', '--continue', 'And then?'])).stderr, `Continuing "${title}" (`)
    await terminal.run(['chat', '--plain', '--continue'], { input: `/title ${next}\n` })
    const titles = (await terminal.json<{ title: string }[]>(['conversations', 'list', '--mine'])).map((conversation) => conversation.title)
    assert.equal([titles.includes(title), titles.includes(next)], [false, true])
  }
  await terminal.json(['agents', 'create', '--name', 'Leaver'])
  await create('Leaver', 'Left')
  await create('Helper', 'Done')
  assert.is((await terminal.run(['conversations', 'complete', 'Done'])).code, 0)
  assert.is((await terminal.run(['agents', 'delete', 'Leaver', '--force', '--yes'])).code, 0)
  await assertContinues('Mine still', 'Mine as ever')
  assert.is((await terminal.run(['conversations', 'delete', ids.own, '--yes'])).code, 0)
  await assertContinues('Done', 'Done again')
  assert.is((await terminal.run(['conversations', 'delete', 'Done again', '--yes'])).code, 0)
  for (const words of [
    ['ask', '--continue', 'And then?'],
    ['chat', '--plain', '--continue'],
  ]) {
    const { code, stderr } = await terminal.run(words, { input: '' })
    assert.is(code, 3)
    assert.match(stderr, 'There is no conversation to continue.')
  }
})

test.run()
