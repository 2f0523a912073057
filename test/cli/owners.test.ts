/** Conversations of several users, as an admin meets them: one's own are gone on with, others' are marked. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { aloud } from '../harness/hooks.ts'
import { openTerminal, type Terminal } from './terminal.ts'

const test = suite("others' conversations at the terminal")
let terminal: Terminal
const ids = { own: '', ada: '' }

test.before(
  aloud(async () => {
    terminal = openTerminal()
    await terminal.json(['agents', 'create', '--name', 'Helper'])
    ids.own = (await terminal.json<{ id: string }>(['conversations', 'create', '--agent', 'Helper', '--title', 'My own'])).id
    const { token } = await terminal.json<{ token: string }>(['tokens', 'create', '--name', 'ada', '--role', 'member', '--user-id', 'ada'])
    const environment = { CADRE_TOKEN: token }
    ids.ada = (await terminal.json<{ id: string }>(['conversations', 'create', '--agent', 'Helper', '--title', "Ada's"], { environment })).id
  }),
)
test.after(aloud(() => terminal.close()))

test('a list says whose the others are, and --mine leaves them out', async () => {
  const { stdout } = await terminal.run(['conversations', 'list'])
  assert.match(stdout, new RegExp(`^ID +TITLE +AGENT +OF +STATUS.*\\n${ids.ada} +Ada's +Helper +ada +active .*\\n${ids.own} +My own +Helper {2,}active `))
  const mine = await terminal.run(['conversations', 'list', '--mine'])
  assert.match(mine.stdout, new RegExp(`^ID +TITLE +AGENT +STATUS.*\\n${ids.own} .*\\n$`))
})

test('the chat goes on with the newest of one’s own, and offers others’ by their names', async () => {
  const { stdout, code, stderr } = await terminal.run(['chat', '--plain', '--continue'], { input: '/title Mine still\n/resume\n' })
  assert.is(code, 0, stderr)
  assert.match(stdout, new RegExp(`${ids.own} {2}Mine still {2}\\d\\d:\\d\\d\\n.*${ids.ada} {2}Ada's {2}\\d\\d:\\d\\d · of ada\\n`))
})

test.run()
