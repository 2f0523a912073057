/** Keys that stop, clear, queue, edit, search the history and answer confirmations, without a service. */
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { HistoryFile } from '../../../src/tui/input/history-file.ts'
import { continueQueue } from '../../../src/tui/session/message-queue.ts'
import { filterChoices } from '../../../src/tui/state/chat-state.ts'
import { asks, CTRL_C, CTRL_Y, createFolder, ESC, ends, nextTurn, setUp as openKeys, UP } from './key-fixture.ts'

const test = suite('keys of messages and confirmations')
const { folder, remove } = createFolder()
test.after(remove)
const setUp = () => openKeys(folder)

test('Ctrl+C clears the input, then shows a hint, and quits if it is pressed again', () => {
  const { type, quitCount, store, text } = setUp()
  type('draft', CTRL_C)
  assert.equal([quitCount(), text(), store.state.hint], [0, '', 'Cleared. Ctrl+Y brings the text back.'])
  type(CTRL_Y)
  assert.is(text(), 'draft')
  type(CTRL_C, CTRL_C)
  assert.equal([quitCount(), store.state.hint], [0, 'Press Ctrl+C again to quit.'])
  type(UP, CTRL_C)
  assert.is(quitCount(), 0, 'another key resets it')
  type(CTRL_C)
  assert.is(quitCount(), 1)
})

test('Escape clears an input of any length, and undo brings it back', () => {
  const { type, text } = setUp()
  const long = Array.from({ length: 300 }, (_, index) => `line ${index}`).join('\n')
  type(`${ESC}[200~${long}${ESC}[201~`, ESC)
  assert.is(text(), '')
  type('\u001f')
  assert.is(text(), long)
})

test('Ctrl+C and Escape stop the reply first and keep the input', () => {
  for (const key of [CTRL_C, ESC]) {
    const { type, session, text, quitCount } = setUp()
    let stopCount = 0
    session.replies.stop = () => ++stopCount === 1
    type('draft', key)
    assert.equal([stopCount, text(), quitCount()], [1, 'draft', 0])
    type(key)
    assert.is(text(), '')
  }
})

test('Ctrl+Z suspends, and Ctrl+G or Ctrl+X Ctrl+E edits the input in the editor', async () => {
  const { type, session, text, notes } = setUp()
  const calls: string[] = []
  session.terminal.suspend = () => void calls.push('suspend')
  session.terminal.edit = async (draft, name) => {
    calls.push(`${name}: ${draft}`)
    return `${draft}!`
  }
  type('hello', '\u001a', '\u0007')
  await nextTurn()
  assert.equal([calls, text()], [['suspend', 'message.md: hello'], 'hello!'])
  type('\u0018', '\u0005')
  await nextTurn()
  assert.is(text(), 'hello!!')
  type('\u0005')
  await nextTurn()
  assert.is(calls.length, 3, 'Ctrl+E alone moves the cursor')
  session.terminal.edit = () => Promise.reject(new Error('The editor failed.'))
  type('\u0007')
  await nextTurn()
  assert.equal([text(), notes()], ['hello!!', ['The editor failed.']])
})

test('Ctrl+R searches the stored history; Tab and → accept the choice for editing, and Enter sends it', async () => {
  const { type, store, session, text } = setUp()
  const file = new HistoryFile(join(folder, 'searched'))
  for (const entry of ['first question', 'other', 'second question']) file.append(entry)
  Object.assign(session, { history: file })
  session.loadHistory()
  type(UP)
  assert.is(text(), 'second question')
  type(ESC, 'quest', '\u0012')
  const list = () => (store.state.panel?.kind === 'picker' ? filterChoices(store.state.panel).map(({ label }) => label) : undefined)
  assert.equal(list(), ['second question', 'first question'])
  type('\u0012', '\u001b[C')
  assert.equal([store.state.panel, text()], [undefined, 'first question'])
  type('\u0012', ESC)
  assert.equal([store.state.panel, text()], [undefined, 'first question'])
  type(ESC, '\u0010', '\u0010', '\u000e')
  assert.is(text(), 'second question', 'Ctrl+P and Ctrl+N move through the history')
  type(ESC, '\u0012', '\u000e', '\t')
  assert.equal([store.state.panel, text()], [undefined, 'other'], 'Ctrl+N selects in a picker, and Tab accepts')
  type(ESC, 'first question')
  session.replies.send = async () => {}
  type(ESC, '\u0012', 'second', '\r')
  await nextTurn()
  store.dispatch({ kind: 'ended', status: 'failed' })
  assert.equal([store.state.panel, text(), file.read().at(-1)], [undefined, '', 'second question'], 'Enter sends the choice')
  type('first question!', '\r')
  await nextTurn()
  store.dispatch({ kind: 'ended', status: 'failed' })
  type(' secret', '\r')
  await nextTurn()
  assert.is(file.read().at(-1), 'first question!', 'a text after a space is not stored')
})

test('while a reply is in progress, Enter queues messages, Up takes the last one back, and they are sent one by one', async () => {
  const { type, store, session, text } = setUp()
  const sent: string[] = []
  session.replies.send = async (message) => void sent.push(message)
  session.replies.onEnd = () => continueQueue(session)
  const queue = () => store.state.queue.map((queued) => queued.text)
  type('first\r')
  await nextTurn()
  type('second\r', 'third\r', 'fourth\r')
  await nextTurn()
  assert.equal([queue(), text(), sent], [['second', 'third', 'fourth'], '', ['first']])
  type(UP)
  assert.equal([queue(), text()], [['second', 'third'], 'fourth'])
  type(ESC)
  store.dispatch(ends)
  session.replies.onEnd()
  assert.equal([queue(), sent], [['third'], ['first', 'second']])
  type('draft')
  store.dispatch({ kind: 'ended', status: 'aborted' })
  session.replies.onEnd()
  assert.equal([queue(), text(), sent.length], [[], 'third\ndraft', 2], 'after a stopped reply the messages return to the input')
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

test('the arguments of a tool call can be edited before it is allowed', async () => {
  const { type, store, session, time, confirmations, notes } = setUp()
  store.dispatch({ kind: 'said', text: 'go' })
  store.dispatch(asks)
  time.now += 1000
  const results = ['[1]', '{', '{"id": 7}']
  session.terminal.edit = async () => results.shift() ?? ''
  for (const problem of [/must be a JSON object/, /not valid JSON/]) {
    time.now += 1000
    type('e')
    await nextTurn()
    assert.match(notes().at(-1) ?? '', problem)
  }
  time.now += 1000
  type('e')
  await nextTurn()
  assert.equal([store.state.editedArguments, confirmations], [{ tool: 'c1', values: { id: 7 }, request: undefined }, []])
  type('y')
  assert.equal(confirmations, [['c1', true, { id: 7 }]])
})

test('"always" also allows the calls of the tool that wait already, and with another agent only if it is for all', () => {
  for (const key of ['t', 'a']) {
    const { type, store, session, time, confirmations } = setUp()
    const ask = (id: string, tool_id: string) =>
      store.dispatch({ kind: 'event', at: 0, event: { event: 'confirmation_required', data: { id, name: 'x', arguments: {}, tool_id } } })
    session.agent = { id: 'agent_1', name: 'Guide' } as typeof session.agent
    store.dispatch({ kind: 'said', text: 'go' })
    ask('c1', 'tool_1')
    ask('c2', 'tool_2')
    ask('c3', 'tool_1')
    time.now += 1000
    // The test answers for the service: the first call no longer waits.
    const { confirm } = session.replies
    session.replies.confirm = (...answer) => {
      store.dispatch({ kind: 'answered', tool: answer[0], allow: answer[1], at: 0 })
      return confirm(...answer)
    }
    type(key)
    assert.equal(confirmations, [], 'a lasting permission is asked about again')
    type('\r')
    assert.equal(confirmations.splice(0), [
      ['c1', true],
      ['c3', true],
    ])
    session.agent = { id: 'agent_2', name: 'Other' } as typeof session.agent
    ask('c4', 'tool_1')
    session.replies.allowTool('tool_3', 'all')
    assert.equal(confirmations, key === 't' ? [['c4', true]] : [], key)
  }
})

test('the letter of a lasting permission can be taken back, and is part of the message if other letters or a paste follow', () => {
  const { type, store, session, time, confirmations, text } = setUp()
  store.dispatch({ kind: 'said', text: 'go' })
  store.dispatch(asks)
  time.now += 1000
  session.replies.stop = () => {
    throw new Error('Escape only goes back')
  }
  type('t', ESC)
  assert.equal([store.state.unconfirmedPermission, text()], [undefined, ''])
  type('a', CTRL_Y)
  assert.equal(confirmations.splice(0), [['c1', true]], 'Ctrl+Y allows only this call')
  for (const letter of 'A quick note') type(letter)
  type('\r')
  assert.equal([confirmations, store.state.queue.map((queued) => queued.text)], [[], ['A quick note']])
  type('t', '\u001b[200~he rest\u001b[201~')
  assert.equal([store.state.unconfirmedPermission, text()], [undefined, 'the rest'])
})

test('while the last message is being changed, Escape and Ctrl+C stop that, also with an empty input', () => {
  for (const key of [ESC, CTRL_C]) {
    const { type, store, text } = setUp()
    store.update({ replacesLast: true })
    type('draft', '\u0015', key)
    assert.equal([store.state.replacesLast, text(), store.state.hint], [false, '', undefined])
  }
})

test('with text in the input, Ctrl+Y and Ctrl+N confirm or refuse', () => {
  const { type, store, time, confirmations, text } = setUp()
  store.dispatch({ kind: 'said', text: 'go' })
  store.dispatch(asks)
  time.now += 1000
  type('wh', 'y', CTRL_Y)
  assert.equal([confirmations, text()], [[['c1', true]], 'why'])
})

test.run()
