/** Key bindings of the chat without a service. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { UnreachableError } from '../../../src/client/errors.ts'
import { KeyDecoder } from '../../../src/tui/input/key-decoder.ts'
import { handleKey } from '../../../src/tui/key-bindings.ts'
import { ChatSession } from '../../../src/tui/session/chat-session.ts'
import { ChatStore } from '../../../src/tui/state/chat-store.ts'
import type { TranscriptAction } from '../../../src/tui/state/transcript-reducer.ts'

const test = suite('key bindings')
const folder = mkdtempSync(join(tmpdir(), 'cadre-keys-'))
writeFileSync(join(folder, 'notes.md'), 'Remember.')
test.after(() => rmSync(folder, { recursive: true }))

const ESC = '\u001b'
const [UP, DOWN, CTRL_C, CTRL_O, CTRL_L, CTRL_Y] = [`${ESC}[A`, `${ESC}[B`, '\u0003', '\u000f', '\u000c', '\u0019']

function setUp() {
  const time = { now: 10_000 }
  let quitCount = 0
  const store = new ChatStore(
    () => {},
    () => time.now,
  )
  const connect = () => Promise.reject(new UnreachableError('The service is not reachable.'))
  const session = new ChatSession({ store, connect, isPlain: false, cwd: folder, quit: () => quitCount++, copy: async () => true })
  const confirmations: [string, boolean][] = []
  session.replies.confirm = async (tool, allow) => void confirmations.push([tool, allow])
  store.update({ agent: { id: 'agent_1', name: 'Guide' }, size: { columns: 60, rows: 20 } })
  const type = (...chunks: string[]) => {
    for (const chunk of chunks) {
      const decoder = new KeyDecoder()
      for (const key of [...decoder.push(chunk), ...decoder.flush()]) handleKey(session, key)
    }
  }
  return {
    store,
    session,
    type,
    time,
    confirmations,
    quitCount: () => quitCount,
    text: () => store.state.editor.text,
    notes: () => store.state.transcript.entries.flatMap((entry) => (entry.kind === 'note' ? [entry.text] : [])),
  }
}

const asks: TranscriptAction = {
  kind: 'event',
  at: 0,
  event: { event: 'confirmation_required', data: { id: 'c1', name: 'delete', arguments: {} } },
}
const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

test('Ctrl+C shows a hint, a second one quits, and the input is kept', () => {
  const { type, quitCount, store, text } = setUp()
  type('draft', CTRL_C)
  assert.equal([quitCount(), store.state.hint], [0, 'Press Ctrl+C again to quit.'])
  type('x', CTRL_C)
  assert.is(quitCount(), 0, 'another key resets it')
  type(CTRL_C)
  assert.equal([quitCount(), text()], [1, 'draftx'])
})

test('Ctrl+D quits with empty input and deletes otherwise', () => {
  const { type, quitCount, text } = setUp()
  type('ab', `${ESC}[H`, '\u0004')
  assert.equal([quitCount(), text()], [0, 'b'])
  type('\u0004', '\u0004')
  assert.is(quitCount(), 1)
})

test('a slash opens the command menu; Tab inserts a command, Enter runs it', async () => {
  const { type, store, text, notes } = setUp()
  type('/he')
  assert.equal(
    store.state.menu?.completion.options.map(({ label }) => label),
    ['/help'],
  )
  type('\r')
  await nextTurn()
  assert.match(notes()[0] ?? '', '/title name')
  assert.equal([text(), store.state.menu], ['', undefined])
  type('/ti', '\t')
  assert.is(text(), '/title ')
  type('\u0015', '/', DOWN, DOWN)
  assert.is(store.state.menu?.selected, 2)
  type(ESC)
  assert.equal([store.state.menu, text()], [undefined, '/'])
})

test('an unknown command is reported and stays in the input', async () => {
  const { type, text, notes } = setUp()
  type('/halp\r')
  await nextTurn()
  assert.equal([notes(), text()], [['Unknown command /halp. Did you mean /help? To list commands: /help'], '/halp'])
})

test('Up recalls submitted text without opening menus', async () => {
  const { type, store, text } = setUp()
  type('/help', '\r')
  await nextTurn()
  type(UP)
  assert.equal([text(), store.state.menu], ['/help', undefined])
  type(DOWN)
  assert.is(text(), '')
})

test('@ completes files and lists attachments', () => {
  const { type, store, text } = setUp()
  type('see @no')
  assert.equal(store.state.menu?.completion.kind, 'file')
  type('\r')
  assert.equal([text(), store.state.files], ['see @notes.md ', ['notes.md']])
})

test('a file that cannot be attached keeps the message in the input', async () => {
  const { type, text, notes } = setUp()
  writeFileSync(join(folder, 'x.bin'), Buffer.from([0, 1]))
  type('@x.bin and more\r')
  await nextTurn()
  assert.equal([notes(), text()], [['x.bin is neither a UTF-8 text file nor a PNG, JPEG, GIF or WebP image.'], '@x.bin and more'])
})

test('an image named with @ is sent with the message', async () => {
  const { type, session } = setUp()
  const sent: unknown[] = []
  session.replies.send = async (message, options) => void sent.push(message, options?.images)
  const bytes = Buffer.from('GIF89a\0\0\0\0\0\0')
  writeFileSync(join(folder, 'cat.gif'), bytes)
  type('What is @cat.gif ?\r')
  await nextTurn()
  assert.equal(sent, ['What is @cat.gif ?', [{ type: 'image/gif', data: bytes.toString('base64') }]])
})

test('a missing file keeps the message in the input until Enter is pressed again', async () => {
  const { type, session, text, notes } = setUp()
  const sent: string[] = []
  session.replies.send = async (message) => void sent.push(message)
  type('compare @note.md\r')
  await nextTurn()
  const told = `@note.md: no such file: ${join(folder, 'note.md')}. Did you mean @notes.md? Press Enter again to send the message as it is.`
  assert.equal([notes(), text(), sent], [[told], 'compare @note.md', []])
  type('!', '\u007f', '\r')
  await nextTurn()
  assert.equal([text(), sent], ['', ['compare @note.md']])
})

test('a model that only quotes documents is sent no file, after a warning', async () => {
  const { type, store, session, text, notes } = setUp()
  store.update({ model: { name: 'Embedded', contextWindow: null, onlyQuotes: true } })
  const sent: string[] = []
  session.replies.send = async (message) => void sent.push(message)
  type('what is in @notes.md ?\r')
  await nextTurn()
  assert.match(
    notes()[0] ?? '',
    /^Embedded only quotes the agent's documents and does not read notes\.md\. .*Press Enter again to send the question without it\.$/,
  )
  assert.equal([sent, text()], [[], 'what is in @notes.md ?'])
  type('\r')
  await nextTurn()
  assert.equal([sent, text()], [['what is in @notes.md ?'], ''])
})

test('while a reply is in progress, a message stays in the input', async () => {
  const { type, store, text } = setUp()
  store.dispatch({ kind: 'said', text: 'first' })
  type('second\r')
  await nextTurn()
  assert.equal([text(), store.state.hint], ['second', 'A reply is in progress. Press Esc to stop it.'])
})

test('a message waits for the service; Escape cancels it and it can be sent again', async () => {
  const { type, store } = setUp()
  type('hello\r')
  await nextTurn()
  assert.equal([store.state.transcript.isAwaitingReply, store.state.connectionProblem], [true, 'The service is not reachable.'])
  type('typed meanwhile', ESC)
  await nextTurn()
  await nextTurn()
  const [said, reply] = store.state.transcript.entries
  assert.equal(
    [said, reply?.kind === 'reply' && reply.status, store.state.editor.text],
    [{ kind: 'said', text: 'hello' }, 'aborted', 'typed meanwhile'],
  )
})

test('y and n confirm or refuse a tool call after a delay', () => {
  const { type, store, time, confirmations, text } = setUp()
  store.dispatch({ kind: 'said', text: 'go' })
  store.dispatch(asks)
  type('y')
  assert.equal([confirmations, text()], [[], 'y'], 'a key pressed too early is typed')
  type('\u007f')
  time.now += 1000
  type('n')
  assert.equal(confirmations, [['c1', false]])
})

test('with text in the input, Ctrl+Y and Ctrl+N confirm or refuse', () => {
  const { type, store, time, confirmations, text } = setUp()
  store.dispatch({ kind: 'said', text: 'go' })
  store.dispatch(asks)
  time.now += 1000
  type('wh', 'y', CTRL_Y)
  assert.equal([confirmations, text()], [[['c1', true]], 'why'])
})

test('Ctrl+O toggles the sources panel and keeps the input', () => {
  const { type, store, text } = setUp()
  type('te', CTRL_O)
  assert.is(store.state.panel?.kind, 'sources')
  type('xt', CTRL_O)
  assert.equal([store.state.panel, text()], [undefined, 'text'])
})

test('a picker can be filtered, navigated and closed', async () => {
  const { type, store, notes } = setUp()
  const choices = ['Ada', 'Alan', 'Grace'].map((label) => ({ id: label, label, note: '' }))
  store.update({ panel: { kind: 'picker', target: 'agent', title: 'Agents', choices, filter: '', selected: 0 } })
  type('al')
  assert.equal(store.state.panel?.kind === 'picker' && store.state.panel.filter, 'al')
  type('\u007f', '\u007f', DOWN, DOWN, DOWN)
  assert.equal(store.state.panel?.kind === 'picker' && store.state.panel.selected, 2)
  type('\r')
  await nextTurn()
  assert.equal([store.state.panel, notes()], [undefined, ['The service is not reachable.']], 'a failed choice is reported')
  store.update({ panel: { kind: 'picker', target: 'agent', title: 'Agents', choices, filter: '', selected: 0 } })
  type(ESC)
  assert.is(store.state.panel, undefined)
})

test('Ctrl+L and /clear redraw; cleared entries stay hidden', async () => {
  const { type, store } = setUp()
  type(CTRL_L)
  assert.equal([store.state.redrawCount, store.state.firstEntry], [1, 0])
  store.addNote('x')
  type('/clear', '\r')
  await nextTurn()
  assert.equal([store.state.redrawCount, store.state.firstEntry], [2, 1])
})

test('commands that need a conversation report that there is none', async () => {
  const { type, notes } = setUp()
  for (const command of ['/title x', '/export', '/history', '/copy', '/search']) {
    type(command, '\r')
    await nextTurn()
  }
  assert.equal(notes().length, 5)
  assert.ok(
    notes().every((note) => /^(The conversation has no messages yet|There is no reply to copy|Missing query)/.test(note)),
    notes().join('\n'),
  )
})

test.run()
