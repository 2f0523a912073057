/** Keys of the chat in a terminal with a real daemon. */
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { ChatFixture } from '../harness/chat-fixture.ts'
import { reportFailure } from '../harness/hooks.ts'
import { stallAfter, streamInTwoParts, streamReply, streamText } from '../harness/scripted-provider.ts'
import { hasTmux } from '../harness/tmux-terminal.ts'
import { waitFor } from '../harness/wait-for.ts'

const test = suite('keys of the chat')
/** Skipped on machines without tmux. */
const atTerminal = hasTmux ? test : test.skip
let fixture: ChatFixture

test.before(
  reportFailure(async () => {
    fixture = await ChatFixture.open()
    await fixture.createAgent('Guide')
  }),
)
test.after(reportFailure(() => fixture.close()))

const [ENTER, ESCAPE, UP] = ['\r', '\u001b', '\u001b[A']
const [CTRL_C, CTRL_G, CTRL_R, CTRL_T] = ['\u0003', '\u0007', '\u0012', '\u0014']

async function openChat(options: Parameters<ChatFixture['openChat']>[0] = {}) {
  const terminal = fixture.openChat({ agent: 'Guide', ...options })
  await terminal.waitFor(/Ask Guide/)
  return terminal
}

const getLastMessage = async () => {
  const [conversation] = await fixture.get('/conversations?sort=updated_at')
  return (await fixture.get(`/conversations/${conversation.id}`)).messages.at(-1)
}

atTerminal(
  'Ctrl+C stops the reply, whose text stays on the screen and is stored; pressed twice with an empty input, it quits',
  async () => {
    fixture.script(stallAfter('The first words', ' of a reply'))
    const terminal = await openChat()
    terminal.write(`Go on${ENTER}`)
    await terminal.waitFor(/The first words of a reply[\s\S]*writing.* · Esc to stop/)
    terminal.write(CTRL_C)
    await terminal.waitFor(/The first words of a reply\n\n {2}■ stopped/)
    await waitFor(async () => (await getLastMessage()).finish_reason === 'aborted')
    assert.is((await getLastMessage()).content, 'The first words of a reply')
    terminal.write('a draft')
    await terminal.waitFor(/› a draft/)
    terminal.write(CTRL_C)
    await terminal.waitFor(/› Ask Guide\n {2}Cleared\. Ctrl\+Y brings the text back\./)
    terminal.write(CTRL_C)
    await terminal.waitFor(/Press Ctrl\+C again to quit\./)
    terminal.write(CTRL_C)
    await terminal.waitFor(/^exit 0$/m)
  },
)

atTerminal('text and Enter typed before the chat opens are a message', async () => {
  fixture.script(streamText('You were fast.'))
  const terminal = fixture.openChat({ agent: 'Guide' })
  terminal.write(`Typed ahead${ENTER}and a dra`)
  await terminal.waitFor(/^› Typed ahead\n\n {2}You were fast\.\n\n─+\n› and a dra\n/m)
})

atTerminal('the next chat has the history: Up recalls and Ctrl+R searches it', async () => {
  fixture.script(streamText('Noted.'))
  const first = await openChat()
  for (const question of ['Where is the annual report?', 'Who wrote it?']) {
    first.write(question + ENTER)
    await first.waitFor((screen) => screen.includes(`› ${question}\n\n  Noted.`) && screen.includes('Ask Guide'))
  }
  const file = join(fixture.home, 'chat-history')
  assert.is(statSync(file).mode & 0o777, 0o600)
  const second = await openChat()
  second.write(UP)
  await second.waitFor(/› Who wrote it\?\n {2}Guide/)
  second.write(`${ESCAPE}`)
  await second.waitFor(/› Ask Guide/)
  second.write(`${CTRL_R}annual`)
  await second.waitFor(/History {2}annual · Enter send · Tab edit · Esc close\n› Where is the annual report\?/)
  second.write('\t')
  await second.waitFor(/› Where is the annual report\?\n {2}Guide/)
  second.write(ESCAPE)
  await second.waitFor(/› Ask Guide/)
  second.write(`${CTRL_R}wrote`)
  await second.waitFor(/History {2}wrote .*\n› Who wrote it\?/)
  second.write(ENTER)
  await second.waitFor(/› Who wrote it\?\n\n {2}Noted\.[\s\S]*› Ask Guide/)
  assert.is((await fixture.run(['config', 'set', 'history', 'false'])).code, 0)
  const stored = readFileSync(file, 'utf8')
  const third = await openChat()
  third.write(`Not stored${ENTER}`)
  await third.waitFor(/› Not stored\n\n {2}Noted\./)
  assert.is(readFileSync(file, 'utf8'), stored)
  assert.is((await fixture.run(['config', 'unset', 'history'])).code, 0)
})

atTerminal('Ctrl+G opens the input in $EDITOR, and an editor that fails changes nothing', async () => {
  const terminal = await openChat({ environment: { EDITOR: 'sed -i s/draft/edited/' } })
  terminal.write('a draft')
  await terminal.waitFor(/› a draft/)
  terminal.write(CTRL_G)
  await terminal.waitFor(/› a edited\n {2}Guide/)
  const failing = await openChat({ environment: { VISUAL: 'false' } })
  failing.write('a draft')
  await failing.waitFor(/› a draft/)
  failing.write('\u0018\u0005')
  await failing.waitFor(/The editor \(false\) failed with exit code 1\. To use another one, set EDITOR\.[\s\S]*› a draft\n/)
})

atTerminal('Enter during a reply queues messages, which are sent after it', async () => {
  const { step, resume } = streamInTwoParts('The beginning', ' and the end.')
  fixture.script(step, streamText('Second reply.'))
  const terminal = await openChat()
  terminal.write(`First${ENTER}`)
  await terminal.waitFor(/The beginning/)
  terminal.write(`Second${ENTER}`)
  await terminal.waitFor(/⏎ Second\n/)
  terminal.write(`Third${ENTER}`)
  await terminal.waitFor(/⏎ Second\n {2}⏎ Third\n {4}sent after the reply · ↑ edits the last one/)
  terminal.write(UP)
  await terminal.waitFor((screen) => !screen.includes('⏎ Third') && screen.includes('› Third'), 'the message in the input')
  terminal.write('\u0015')
  resume()
  const screen = await terminal.waitFor(/The beginning and the end\.\n\n› Second\n\n {2}Second reply\.\n\n─+\n› Ask Guide/)
  assert.not.match(screen, 'Esc to stop')
})

atTerminal('/retry answers a message again, /edit replaces it, and both say if there is none', async () => {
  fixture.script(stallAfter('The beginning'), streamText('The whole reply.'), streamText('Another reply.'), streamText('The last reply.'))
  const terminal = fixture.openChat({ agent: 'Guide' })
  await terminal.waitFor(/Ask Guide/)
  terminal.write(`/retry${ENTER}`)
  await terminal.waitFor(/There is no message to retry\./)
  terminal.write(`/edit${ENTER}`)
  await terminal.waitFor(/There is no message to change\./)
  terminal.write(`Hello${ENTER}`)
  await terminal.waitFor(/The beginning/)
  terminal.write(ESCAPE)
  await terminal.waitFor(/■ stopped/)
  terminal.write(`/retry${ENTER}`)
  await terminal.waitFor(/The whole reply\.[\s\S]*Ask Guide/)
  terminal.write(`/retry${ENTER}`)
  await terminal.waitFor(/Another reply\.[\s\S]*Ask Guide/)
  terminal.write(`/edit${ENTER}`)
  await terminal.waitFor(/› Hello\n {2}Enter replaces your last message/)
  terminal.write(' there')
  await terminal.waitFor(/› Hello there\n {2}Enter replaces your last message and its reply\. Esc cancels\./)
  terminal.write(ENTER)
  await terminal.waitFor(/› Hello there\n\n {2}The last reply\./)
  const [conversation] = await fixture.get('/conversations?sort=updated_at')
  const { messages } = await fixture.get(`/conversations/${conversation.id}`)
  assert.equal(
    messages.map(({ content }: { content: string }) => content),
    ['Hello there', 'The last reply.'],
  )
  terminal.write(`/usage${ENTER}`)
  const [, used] = /this conversation: (.* tokens), cost/.exec(await terminal.waitFor(/this conversation: .*\n.*today.*\n/)) ?? []
  assert.ok(used)
  assert.match(terminal.read(), ` · ${used} · cost`, 'the status line counts what was replaced once')
})

atTerminal('/search finds earlier conversations by their text and opens one', async () => {
  fixture.script(streamText('Platypuses lay eggs.'))
  const terminal = await openChat()
  terminal.write(`Something odd${ENTER}`)
  await terminal.waitFor(/Platypuses lay eggs\.[\s\S]*tokens/)
  terminal.write(`/new${ENTER}`)
  await terminal.waitFor(/Started a new conversation\./)
  terminal.write(`/search platypus${ENTER}`)
  await terminal.waitFor(/Conversations.*\n› Something odd +\d\d:\d\d · .*Platypuses/)
  terminal.write(ENTER)
  await terminal.waitFor((screen) => /› Something odd\n\n {2}Platypuses/.test(screen) && !screen.includes('Conversations'), 'it')
  terminal.write(`/search zebra${ENTER}`)
  await terminal.waitFor(/No message contains "zebra"\./)
})

atTerminal('/copy says where the text is: in the buffer of tmux', async () => {
  fixture.script(streamText('Copy me.'))
  const terminal = await openChat({ isInTmux: true })
  terminal.write(`Hello${ENTER}`)
  await terminal.waitFor(/Copy me\.[\s\S]*tokens/)
  terminal.write(`/copy${ENTER}`)
  await terminal.waitFor(/Copied the last reply to the tmux buffer, and sent it to the terminal/)
  assert.is(terminal.readBuffer(), 'Copy me.')
})

atTerminal('/copy does not claim success if the terminal may ignore or does not support it', async () => {
  fixture.script(streamText('Copy me.'))
  for (const [TERM, note] of [
    ['screen-256color', /Sent the last reply to the clipboard of the terminal \(OSC 52\), which may\s+ignore it\./],
    ['linux', /This terminal does not let programs use the clipboard\./],
  ] as const) {
    const terminal = await openChat({ environment: { TERM } })
    terminal.write(`Hello${ENTER}`)
    await terminal.waitFor(/Copy me\.[\s\S]*tokens/)
    terminal.write(`/copy${ENTER}`)
    await terminal.waitFor(note)
  }
})

atTerminal('reasoning is shown collapsed, and Ctrl+T expands it', async () => {
  fixture.script(streamReply({ reasoning: ['The user greets.\n', 'I greet back.'], text: ['Good morning.'] }))
  const terminal = await openChat()
  terminal.write(`Hello${ENTER}`)
  await terminal.waitFor(/▸ Reasoning, 2 lines · Ctrl\+T to show\n\n {2}Good morning\./)
  assert.is((await getLastMessage()).reasoning, 'The user greets.\nI greet back.')
  terminal.write(CTRL_T)
  await terminal.waitFor(/┊ The user greets\.\n {2}┊ I greet back\.\n\n {2}Good morning\./)
  assert.match(terminal.readWithColors(), /\u001b\[2m[^\n]*The user greets/)
  fixture.script(streamText('<thi', 'nk>\nA farewell.\n</th', 'ink>\n\nGood night.'), streamText('Bye.'))
  terminal.write(`Good night${ENTER}`)
  await terminal.waitFor(/┊ A farewell\.\n\n {2}Good night\.[\s\S]*tokens/)
  terminal.write(`Bye${ENTER}`)
  await terminal.waitFor(/Bye\.[\s\S]*tokens/)
  const { messages } = fixture.provider.received.at(-1)?.body ?? {}
  assert.match(JSON.stringify(messages), /"assistant","content":"Good night\."/, 'reasoning is not sent back')
  assert.not.match(JSON.stringify(messages), /farewell|greets/)
})

atTerminal('Ctrl+T prints the reasoning of a reply that is higher than the window below it, once', async () => {
  const reasoning = 'The user wants a long list, so I count slowly. '.repeat(4)
  fixture.script(streamReply({ reasoning: [reasoning], text: Array.from({ length: 40 }, (_, index) => `Line ${index + 1}.\n\n`) }))
  const terminal = await openChat()
  terminal.write(`Count${ENTER}`)
  await terminal.waitFor(/Line 40\.[\s\S]*tokens/)
  assert.match(terminal.readAll(), /▸ Reasoning, 3 lines · Ctrl\+T to show/)
  for (const how of ['shown in full', 'shortened', 'shown in full']) {
    terminal.write(CTRL_T)
    await terminal.waitFor(new RegExp(`Tool results and reasoning are ${how}\\.`))
    await terminal.waitFor(/Line 40\.\n\n {2}Details of the last reply:\n( {2}┊ .*\n){3}\n─+\n› Ask Guide/)
  }
  assert.is(terminal.readAll().match(/Details of the last reply/g)?.length, 1)
})

atTerminal('the chat fits 40 and 200 columns without colors', async () => {
  const { step, resume } = streamInTwoParts('A reply that is longer than forty columns are wide', ' and ends.')
  fixture.script(step, streamText('Done.'))
  for (const columns of [40, 200]) {
    const terminal = await openChat({ columns, environment: { NO_COLOR: '1' } })
    terminal.write(`Hello${ENTER}`)
    await terminal.waitFor(/A reply that is longer[\s\S]*Esc to stop|Done\./)
    terminal.write(`A message that is queued and is longer than forty columns${ENTER}`)
    await terminal.waitFor(/A message that is queued/)
    resume()
    await terminal.waitFor(/Done\.[\s\S]*› Ask Guide/)
    assert.not.match(terminal.readWithColors(), '\u001b[')
    assert.match(terminal.read(), new RegExp(`^─{${columns}}$`, 'm'))
  }
})

atTerminal('a terminal that cannot redraw gets the plain chat', async () => {
  fixture.script(streamText('Line by line.'))
  const terminal = fixture.openChat({ agent: 'Guide', environment: { TERM: 'dumb' } })
  await terminal.waitFor(/Type a message and press Enter\. For help/)
  terminal.write(`Hello${ENTER}`)
  await terminal.waitFor(/Line by line\./)
  terminal.write(`quit${ENTER}`)
  await terminal.waitFor(/exit 0/)
})

test('the history file is not part of messages that a plain chat reads', async () => {
  writeFileSync(join(fixture.home, 'chat-history'), '')
  fixture.script(streamText('Plain.'))
  const { stdout } = await fixture.run(['chat', 'Guide', '--plain'], { input: 'Hello\n' })
  assert.match(stdout, /Plain\./)
  assert.is(readFileSync(join(fixture.home, 'chat-history'), 'utf8'), '')
})

test.run()
