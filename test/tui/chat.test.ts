/** The chat in a terminal with a real daemon. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { stringWidth } from '../../src/cli/terminal/text.ts'
import { ChatFixture } from '../harness/chat-fixture.ts'
import { reportFailure } from '../harness/hooks.ts'
import { respondWithError, stallAfter, streamReply, streamText } from '../harness/scripted-provider.ts'
import { hasTmux } from '../harness/tmux-terminal.ts'

const test = suite('chat in a terminal')
/** Skipped on machines without tmux. */
const atTerminal = hasTmux ? test : test.skip
let fixture: ChatFixture

test.before(
  reportFailure(async () => {
    fixture = await ChatFixture.open()
    await fixture.createAgent('Guide')
    const tool = await fixture.create('/api-tools', {
      name: 'delete_user',
      description: 'Deletes a user',
      method: 'DELETE',
      url: 'http://127.0.0.1:9/users/{id}',
      parameters: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
      allow_private_network: true,
      requires_confirmation: true,
    })
    await fixture.createAgent('Janitor', { tools: [tool.id] })
  }),
)
test.after(reportFailure(() => fixture.close()))

const ENTER = '\r'
const ESCAPE = '\u001b'

atTerminal('a reply streams as Markdown and the status line counts tokens', async () => {
  fixture.script(
    streamReply({ text: ['You have **25', ' days** of leave.\n\n- paid', '\n- a year\n\n```js\nconst days', ' = 25\n```\n'] }, 5),
  )
  const terminal = fixture.openChat({ agent: 'Guide' })
  await terminal.waitFor(/Ask Guide/)
  await terminal.waitFor(/Guide · Guide model · \/help/)
  terminal.write(`How many days?${ENTER}`)
  await terminal.waitFor(
    /› How many days\?\n\n {2}You have 25 days of leave\.\n\n {2}• paid\n {2}• a year\n\n {4}const days = 25\n\n─+\n› Ask Guide\n/,
  )
  await terminal.waitFor(/tokens · cost/)
})

atTerminal('the input shows wide characters, several lines and pastes with the cursor in place', async () => {
  const terminal = fixture.openChat({ agent: 'Guide' })
  await terminal.waitFor(/Ask Guide/)
  terminal.write('日本👩‍👩‍👧 x')
  await terminal.waitFor(/› 日本👩‍👩‍👧 x/)
  const at = 2 + stringWidth('日本👩‍👩‍👧 x')
  await terminal.waitFor(() => terminal.getCursor().x === at, `a cursor in column ${at}`)
  terminal.write(`${ESCAPE}\rsecond line`)
  await terminal.waitFor(/x\n {2}second line\n/)
  terminal.write(`\u001b[200~pasted\rwith Enter\u001b[201~`)
  await terminal.waitFor(/second linepasted\n {2}with Enter\n {2}Guide · .*\/help/)
  terminal.write(ESCAPE)
  await terminal.waitFor(/─\n› Ask Guide\n {2}Cleared\./)
})

atTerminal('Escape clears a draft of any length, and Ctrl+Y brings it back', async () => {
  const pasted = Array.from({ length: 300 }, (_, index) => `${index}: ${'a long line '.repeat(index % 9)}end`).join('\r')
  for (const columns of [40, 200]) {
    const terminal = fixture.openChat({ agent: 'Guide', columns })
    await terminal.waitFor(/Ask Guide/)
    for (const draft of ['x'.repeat(1_000), `\u001b[200~${pasted}\u001b[201~`]) {
      terminal.write(draft)
      await terminal.waitFor(/x\n {2}Guide|299: [\s\S]*end\n {2}Guide/)
      terminal.write(ESCAPE)
      await terminal.waitFor((screen) => /^─+\n› Ask Guide\n {2}Cleared\..*$/m.test(screen) && !/x{5}|end$/m.test(screen), 'an empty input')
    }
    terminal.write('\u0019')
    await terminal.waitFor(/299: [\s\S]*end\n {2}Guide/)
  }
})

atTerminal('Escape stops the reply and keeps its text', async () => {
  fixture.script(stallAfter('This is the beginning', ' of a long'))
  const terminal = fixture.openChat({ agent: 'Guide' })
  await terminal.waitFor(/Ask Guide/)
  terminal.write(`Go on${ENTER}`)
  await terminal.waitFor(/of a long/)
  const asked = fixture.provider.received.at(-1)
  terminal.write(ESCAPE)
  await terminal.waitFor(/This is the beginning of a long\n\n {2}■ stopped/)
  await asked?.closed
  const [conversation] = await fixture.get('/conversations?sort=updated_at')
  const { messages } = await fixture.get(`/conversations/${conversation.id}`)
  assert.equal([messages.at(-1).content, messages.at(-1).finish_reason], ['This is the beginning of a long', 'aborted'])
})

atTerminal('a provider error is shown once and /retry retries', async () => {
  fixture.script(respondWithError(401), streamText('Now it works.'))
  const terminal = fixture.openChat({ agent: 'Guide' })
  await terminal.waitFor(/Ask Guide/)
  terminal.write(`Hello${ENTER}`)
  await terminal.waitFor((screen) => /To retry: \/retry/.test(screen) && screen.match(/✗/g)?.length === 1, 'one error')
  terminal.write(`/retry${ENTER}`)
  await terminal.waitFor(/Now it works\./)
  const [conversation] = await fixture.get('/conversations?sort=updated_at')
  const { messages } = await fixture.get(`/conversations/${conversation.id}`)
  assert.equal(
    messages.map(({ content }: { content: string }) => content),
    ['Hello', 'Now it works.'],
  )
})

atTerminal('--continue and /resume open an earlier conversation', async () => {
  fixture.script(streamText('The first answer.'))
  const first = fixture.openChat({ agent: 'Guide' })
  await first.waitFor(/Ask Guide/)
  first.write(`A question to find again${ENTER}`)
  await first.waitFor(/The first answer\./)
  first.write('\u0003\u0003')
  await first.waitFor(/To continue: cadre chat --conversation conv_\S+\n(.*\n)*exit 0/)
  const again = fixture.openChat({ arguments: ['--continue'] })
  await again.waitFor(/› A question to find again\n\n {2}The first answer\./)
  again.write(`/new${ENTER}`)
  await again.waitFor(/Started a new conversation\./)
  again.write(`/resume${ENTER}`)
  await again.waitFor(/Conversations.*Enter select/)
  again.write('find again')
  await again.waitFor(/Conversations {2}find again .*\n› A question to find again/)
  again.write(ENTER)
  await again.waitFor(
    (screen) => /^› A question to find again\n\n {2}The first answer\./m.test(screen) && !screen.includes('Conversations'),
    'the conversation',
  )
  again.write('\u001b[A')
  await again.waitFor(/› A question to find again\n {2}Guide/)
})

atTerminal('after the terminal is resized, the visible text is wrapped again, and no line is there twice', async () => {
  const reply = 'A reply that is long enough to be broken over more than one line, whatever the width of it is.'
  fixture.script(streamText(reply))
  const terminal = fixture.openChat({ agent: 'Guide' })
  await terminal.waitFor(/Ask Guide/)
  terminal.write(`Be long${ENTER}`)
  await terminal.waitFor(/is\.[\s\S]*tokens/)
  terminal.write(`Again${ENTER}`)
  await terminal.waitFor(/Again[\s\S]*is\.[\s\S]*tokens/)
  terminal.write('typed before')
  await terminal.waitFor(/› typed before/)
  terminal.resize(40, 16)
  await terminal.waitFor(
    /^› Again\n\n {2}A reply that is long enough to be\n {2}broken over more than one line,\n[^─]*─{40}\n› typed before\n {2}Guide/m,
  )
  const rows = terminal.readAll().split('\n')
  assert.ok(rows.every((row) => stringWidth(row) <= 40))
  assert.equal(
    rows.filter((row) => /^›|─/.test(row)),
    ['› Be long', '› Again', '─'.repeat(40), '› typed before'],
  )
  terminal.resize(100, 24)
  await terminal.waitFor(new RegExp(`^› Again\\n\\n {2}${reply}\\n\\n─{100}\\n› typed before\\n {2}Guide`, 'm'))
  const words = terminal.readAll().replaceAll(/\s+/g, ' ')
  assert.ok(words.startsWith(`› Be long ${reply} › Again ${reply} ${'─'.repeat(100)} › typed before Guide`), words)
})

atTerminal('Ctrl+L clears the screen as in a shell, and no line is there twice', async () => {
  fixture.script(streamText('Said once.'))
  const terminal = fixture.openChat({ agent: 'Guide' })
  // The line below has the tokens of the reply before until the next one has ended.
  const waitForEnd = (reply: RegExp) => terminal.waitFor((screen) => reply.test(screen) && !screen.includes('writing'), String(reply))
  await terminal.waitFor(/Ask Guide/)
  for (const text of ['One', 'Two', 'Three']) {
    terminal.write(`${text}${ENTER}`)
    await waitForEnd(new RegExp(`› ${text}\n\n {2}Said once\\.[\\s\\S]*tokens`))
  }
  terminal.write('\u000f')
  await terminal.waitFor(/Sources/)
  terminal.write('\u000f')
  await terminal.waitFor((screen) => !screen.includes('Sources'), 'no sources')
  terminal.write('\u000c')
  await terminal.waitFor(/^\n?─+\n› Ask Guide\n/)
  terminal.write(`Four${ENTER}`)
  await waitForEnd(/^› Four\n\n {2}Said once\.[\s\S]*tokens/)
  assert.equal(
    terminal
      .readAll()
      .split('\n')
      .filter((row) => row.trim() !== '')
      .slice(0, -1),
    [...['One', 'Two', 'Three', 'Four'].flatMap((text) => [`› ${text}`, '  Said once.']), '─'.repeat(80), '› Ask Guide'],
  )
})

atTerminal('/help fits 24 rows', async () => {
  const terminal = fixture.openChat({ agent: 'Janitor' })
  await terminal.waitFor(/Ask Janitor/)
  terminal.write(`/help${ENTER}`)
  await terminal.waitFor(/Conversation +│ +│ Agent[\s\S]*\/quit[\s\S]*Ctrl\+D quits\n\n─+\n› Ask Janitor/)
})

atTerminal('/help, /tools, /title, /usage, /model, /export, /clear and /quit work', async () => {
  fixture.script(streamText('Said.'))
  const terminal = fixture.openChat({ agent: 'Janitor', rows: 60 })
  await terminal.waitFor(/Ask Janitor/)
  terminal.write(`/help${ENTER}`)
  await terminal.waitFor(/\/title name +│ rename/)
  terminal.write(`/tools${ENTER}`)
  await terminal.waitFor(/delete_user \(API, requires confirmation\)/)
  terminal.write(`Hello${ENTER}`)
  await terminal.waitFor(/Said\.[\s\S]*tokens/)
  terminal.write(`/title Tidying up${ENTER}`)
  await terminal.waitFor(/Renamed the conversation to "Tidying up"\./)
  terminal.write(`/usage${ENTER}`)
  await terminal.waitFor(/Replies of this conversation: 17 tokens, cost 0\.01\d* USD\.\n {2}All agents today \(UTC\): .* tokens, cost 0/)
  terminal.write(`/model Guide model${ENTER}`)
  await terminal.waitFor(/Janitor · Guide model/)
  terminal.write(`/export${ENTER}`)
  await terminal.waitFor(/Exported the conversation to tidying-up\.md/)
  terminal.write(`/export missing/x.md${ENTER}`)
  await terminal.waitFor(/missing\/x\.md cannot be written: the folder missing does not exist\./)
  terminal.write(`/export tidy.html${ENTER}`)
  await terminal.waitFor(/Exported the conversation to tidy\.html/)
  assert.match(readFileSync(join(fixture.home, 'tidy.html'), 'utf8'), /^<!doctype html>/)
  terminal.write(`/clear${ENTER}`)
  await terminal.waitFor((screen) => !screen.includes('Said.') && screen.includes('Ask Janitor'), 'an empty screen')
  terminal.write(`/quit${ENTER}`)
  await terminal.waitFor(/exit 0/)
})

atTerminal('/copy, /history, /agents and /agent work, with completion', async () => {
  fixture.script(streamText('Said.'))
  const terminal = fixture.openChat({ agent: 'Janitor', rows: 40 })
  await terminal.waitFor(/Ask Janitor/)
  terminal.write(`Hello${ENTER}`)
  await terminal.waitFor(/Said\.[\s\S]*tokens/)
  terminal.write(`/copy${ENTER}`)
  await terminal.waitFor(/Sent the last reply to the clipboard of the terminal \(OSC 52\), which may\n? *ignore it\./)
  terminal.write('/hi')
  await terminal.waitFor(/› \/hi\n› \/history +show all messages/)
  terminal.write(ENTER)
  await terminal.waitFor(/› Hello\n\n {2}Said\.\n\n─+\n› Ask Janitor/)
  terminal.write(`/agents${ENTER}`)
  await terminal.waitFor(/Agents.*Enter select.*\n› Guide\n {2}Janitor\n/)
  terminal.write(ESCAPE)
  await terminal.waitFor(/Ask Janitor/)
  terminal.write('/agent g')
  await terminal.waitFor(/› \/agent g\n› Guide\n/)
  terminal.write(`\t${ENTER}`)
  await terminal.waitFor(/Started a new conversation with Guide\.[\s\S]*Ask Guide\n {2}Guide · Guide model · \/help/)
})

test('without a terminal, chat suggests ask and --plain, which works line by line', async () => {
  const refused = await fixture.run(['chat', 'Guide'])
  assert.is(refused.code, 2)
  assert.match(refused.stderr, /needs an interactive terminal.*\n.*cadre ask.*--plain/)
  fixture.script(streamText('A **plain** answer.'), streamText('Another.'))
  const { code, stdout } = await fixture.run(['chat', 'Guide', '--plain'], { input: 'Hello\n/title Plainly\nAgain\n' })
  assert.is(code, 0)
  assert.match(stdout, /› Hello\n\n {2}A plain answer\.\n\n {2}Renamed the conversation to "Plainly"\.\n\n› Again\n\n {2}Another\./)
  assert.not.match(stdout, '\u001b')
})

test('without an argument, chat uses the configured agent', async () => {
  assert.is((await fixture.run(['config', 'set', 'agent', 'Janitor'])).code, 0)
  const { stdout } = await fixture.run(['chat', '--plain'])
  await fixture.run(['config', 'unset', 'agent'])
  assert.match(stdout, /^Janitor, Janitor model\./)
})

atTerminal('without an argument, the picker preselects the agent of the last conversation', async () => {
  const [janitor] = await fixture.get('/agents?name=Janitor')
  const gone = await fixture.create('/agents', { name: 'Gone' })
  for (const { id } of [janitor, gone]) await fixture.create('/conversations', { agent_id: id })
  assert.is((await fixture.run(['agents', 'delete', gone.id, '--yes', '--force'])).code, 0)
  const terminal = fixture.openChat({})
  await terminal.waitFor(/Agents.*Enter select.*\n› Janitor\n {2}Guide\n/)
  terminal.write(ENTER)
  await terminal.waitFor(/Started a new conversation with Janitor\.[\s\S]*Ask Janitor/)
})

test('an unknown agent or conversation exits with 3', async () => {
  const nobody = await fixture.run(['chat', 'Nobody', '--plain'])
  assert.equal([nobody.code, /There is no agent "Nobody"/.test(nobody.stderr)], [3, true])
  const several = await fixture.run(['chat', '--plain', '--conversation', 'conv_00000000-0000-7000-8000-000000000000'])
  assert.is(several.code, 3)
})

test.run()
