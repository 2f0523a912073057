/** Key bindings of the chat without a service: completion, commands, panels and attached files. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { CTRL_L, CTRL_O, createFolder, DOWN, ESC, nextTurn, setUp as openKeys, UP } from './key-fixture.ts'

const test = suite('key bindings')
const { folder, remove } = createFolder()
writeFileSync(join(folder, 'notes.md'), 'Remember.')
test.after(remove)
const setUp = () => openKeys(folder)

test('Ctrl+D deletes, and quits if it is pressed twice with empty input', () => {
  const { type, quitCount, text, store } = setUp()
  type('ab', `${ESC}[H`, '\u0004')
  assert.equal([quitCount(), text()], [0, 'b'])
  type('\u0004', '\u0004')
  assert.equal([quitCount(), store.state.hint], [0, 'Press Ctrl+D again to quit.'])
  type(UP, '\u0004')
  assert.is(quitCount(), 0, 'another key resets it')
  type('\u0004')
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

test('Enter after the slash of a folder attaches no file that was not chosen', async () => {
  const { type, store, text, notes } = setUp()
  mkdirSync(join(folder, 'minutes'), { recursive: true })
  for (const name of ['april.md', 'may.md']) writeFileSync(join(folder, 'minutes', name), 'Minutes.')
  type('@minutes/')
  assert.equal([store.state.menu?.completion.options.length, store.state.menu?.selected], [2, -1])
  type('\r')
  await nextTurn()
  assert.equal([text(), store.state.menu], ['@minutes/', undefined])
  assert.match(notes()[0] ?? '', 'minutes')
  type(ESC, '@minutes/', UP, '\r')
  assert.is(text(), '@minutes/may.md ')
  type(ESC, '@minutes/', '\t')
  assert.is(text(), '@minutes/april.md ')
})

test('a file that cannot be attached keeps the message in the input', async () => {
  const { type, text, notes } = setUp()
  writeFileSync(join(folder, 'x.bin'), Buffer.from([0, 1]))
  type('@x.bin and more\r')
  await nextTurn()
  assert.equal([notes(), text()], [['x.bin is neither a UTF-8 text file nor a PNG, JPEG, GIF or WebP image.'], '@x.bin and more'])
})

test('a document that the daemon cannot read keeps the message in the input', async () => {
  const { type, text, notes, session } = setUp()
  session.client.getConnection = async () => Promise.reject(new Error('The daemon does not respond.'))
  writeFileSync(join(folder, 'lease.docx'), 'x')
  type('Summarize @lease.docx\r')
  await nextTurn()
  assert.match(notes()[0] ?? '', 'The daemon does not respond.')
  assert.is(text(), 'Summarize @lease.docx')
})

test('an image named with @ is sent with the message', async () => {
  const { type, session } = setUp()
  const sent: unknown[] = []
  session.replies.send = async (message, options) => void sent.push(message, options?.images)
  const bytes = Buffer.from('GIF89a\0\0\0\0\0\0')
  writeFileSync(join(folder, 'cat.gif'), bytes)
  type('What is @cat.gif ?\r')
  await nextTurn()
  assert.equal(sent, ['What is @cat.gif ?', [{ type: 'image/gif', data: bytes.toString('base64'), path: 'cat.gif' }]])
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

test('a shell command is not sent until Enter is pressed again, and a note says what to do instead', async () => {
  for (const command of ['!ls -la', '! ./run.sh', ' !git status ']) {
    const { type, session, text, notes } = setUp()
    const sent: string[] = []
    session.replies.send = async (message) => void sent.push(message)
    type(`${command}\r`)
    await nextTurn()
    assert.match(notes().join(), /^Cadre has no shell, .* Run the command in a terminal\. .* @output\.txt\. Press Enter again to send /)
    assert.equal([text(), sent], [command, []])
    type('\r')
    await nextTurn()
    assert.equal([text(), sent], ['', [command]])
  }
  for (const message of ['!= or !==?', '![chart](a.png) shows', '!!', 'Run !ls', `${ESC}[200~!function () {\n}()${ESC}[201~`]) {
    const { type, session, notes } = setUp()
    const sent: string[] = []
    session.replies.send = async (text) => void sent.push(text)
    type(message, '\r')
    await nextTurn()
    assert.equal([notes(), sent.length], [[], 1], message)
  }
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

test('Ctrl+L and /clear clear the screen', async () => {
  const { type, store } = setUp()
  type(CTRL_L)
  assert.is(store.state.clearCount, 1)
  type('/clear', '\r')
  await nextTurn()
  assert.equal([store.state.clearCount, store.state.redrawCount], [2, 0])
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
