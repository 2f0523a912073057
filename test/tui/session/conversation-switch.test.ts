/** Keys pressed during a switch to another conversation or agent act only on the state that is shown. */
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { Agent } from '../../../src/contract/families/agents.ts'
import type { ConversationItem } from '../../../src/contract/families/conversations.ts'
import { handleKey } from '../../../src/tui/handle-key.ts'
import { KeyDecoder } from '../../../src/tui/input/key-decoder.ts'
import { ChatSession } from '../../../src/tui/session/chat-session.ts'
import { type ChatState, sumConversationUsage } from '../../../src/tui/state/chat-state.ts'
import { ChatStore } from '../../../src/tui/state/chat-store.ts'
import { waitFor } from '../../harness/wait-for.ts'
import { FAKE_TERMINAL } from '../fake-terminal.ts'

const test = suite('conversation switch')
const servers: Server[] = []
test.after.each(() => {
  for (const server of servers.splice(0)) {
    server.close()
    server.closeAllConnections()
  }
})

const [UP, ENTER, ESC] = ['\u001b[A', '\r', '\u001b']
const id = (prefix: string, letter: string) => `${prefix}_${[8, 4, 4, 4, 12].map((length) => letter.repeat(length)).join('-')}`
const [CONVERSATION, OLD_CONVERSATION, GUIDE, JANITOR] = [id('conv', 'b'), id('conv', 'a'), id('agent', 'a'), id('agent', 'b')]

const model = (name: string) => ({ id: `${name}_model`, name: `${name} model`, context_window: null, provider: 'openai' })
const agent = (agentId: string, name: string) => ({
  id: agentId,
  name,
  description: '',
  system_prompt: '',
  tools: [],
  model_id: `${name}_model`,
})
const page = (data: object[]) => ({ data, pagination: { page: 1, limit: 100, total: data.length, pages: 1 } })
const MESSAGES = [
  { id: 'msg_1', role: 'user', content: 'A question to find again' },
  { id: 'msg_2', role: 'assistant', content: 'The first answer.', finish_reason: 'stop' },
]

const ANSWERS: Record<string, object> = {
  [`/api/conversations/${CONVERSATION}`]: { data: { id: CONVERSATION, title: 'Found', agent_id: JANITOR } },
  [`/api/conversations/${CONVERSATION}/messages`]: page([...MESSAGES].reverse()),
  [`/api/conversations/${OLD_CONVERSATION}`]: { data: { id: OLD_CONVERSATION, title: 'Renamed', agent_id: GUIDE } },
  [`/api/agents/${JANITOR}`]: { data: agent(JANITOR, 'Janitor') },
  '/api/models/Janitor_model': { data: model('Janitor') },
}

/** A chat with Guide, and a service that answers only when the test lets it. */
async function setUp() {
  const waiting: { asked: string; answer: () => void }[] = []
  const answer = (response: ServerResponse, found: object | undefined) => {
    response.writeHead(found ? 200 : 404, { 'content-type': 'application/json' })
    response.end(JSON.stringify(found ?? { error: { code: 'NOT_FOUND', message: 'There is none.' } }))
  }
  const server = createServer((request, response) => {
    const path = (request.url ?? '').replace(/\?.*/, '')
    waiting.push({ asked: `${request.method} ${path}`, answer: () => answer(response, ANSWERS[path]) })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  servers.push(server)
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const states: ChatState[] = []
  const watchers: ((state: ChatState) => void)[] = []
  const store = new ChatStore(() => {
    states.push(store.state)
    for (const watch of watchers) watch(store.state)
  })
  const connect = async () => ({ url, token: undefined, notify: () => {} })
  const session = new ChatSession({ store, connect, isPlain: false, cwd: '.', quit: () => {}, terminal: FAKE_TERMINAL })
  const sent: string[] = []
  session.replies.send = async (message) => void sent.push(`${store.state.agent?.name}: ${message}`)
  session.agent = agent(GUIDE, 'Guide') as unknown as Agent
  store.update({ agent: { id: GUIDE, name: 'Guide' }, conversation: { id: OLD_CONVERSATION, title: null } })
  store.dispatch({ kind: 'loaded', messages: MESSAGES as never })
  const type = (...chunks: string[]) => {
    for (const chunk of chunks) {
      const decoder = new KeyDecoder()
      for (const key of [...decoder.push(chunk), ...decoder.flush()]) handleKey(session, key)
    }
  }
  /** Waits until the service was asked for something. */
  const request = async () => {
    await waitFor(() => waiting.length > 0, { intervalMs: 1, description: 'a request to the service' })
    return waiting.shift() as (typeof waiting)[number]
  }
  /** Answers requests until that holds. */
  const answerUntil = async (holds: () => boolean) => {
    const step = () => {
      if (holds()) return true
      waiting.shift()?.answer()
      return false
    }
    await waitFor(step, { intervalMs: 1, description: String(holds) })
  }
  const choices = [{ id: CONVERSATION, label: 'Found', note: '' }]
  const offer = () =>
    store.update({ panel: { kind: 'picker', target: 'conversation', title: 'Conversations', choices, filter: '', selected: 0 } })
  const notes = () => store.state.transcript.entries.flatMap((entry) => (entry.kind === 'note' ? [entry.text] : []))
  return { store, session, type, sent, states, watchers, request, answerUntil, offer, notes }
}

test('the first state without the picker has the chosen conversation, agent, model and input history', async () => {
  const { store, type, states, watchers, answerUntil, offer } = await setUp()
  type('/help', ENTER)
  await pause(1)
  offer()
  // Up is pressed on exactly the state that first shows no list.
  watchers.push(({ panel }) => {
    if (panel) return
    watchers.length = 0
    type(UP)
  })
  states.length = 0
  type(ENTER)
  assert.is(store.state.panel?.kind, 'picker', 'the picker stays open until the conversation is loaded')
  await answerUntil(() => store.state.editor.text !== '')
  const first = states.find(({ panel }) => !panel)
  assert.equal(
    [first?.agent?.name, first?.model?.name, first?.conversation?.id, first?.transcript.entries.length, store.state.editor.text],
    ['Janitor', 'Janitor model', CONVERSATION, 2, 'A question to find again'],
  )
  assert.ok(
    states.every(({ transcript }) => transcript.entries.length > 0),
    'the transcript is never empty in between',
  )
})

test('the messages before those that are shown are counted after the conversation is resumed', async () => {
  const { store, session, answerUntil } = await setUp()
  const usage = { input_tokens: 6, output_tokens: 4, total_tokens: 10 }
  const turns = Array.from({ length: 15 }, (_, turn) => [
    { id: `msg_${turn}_question`, role: 'user', content: 'And then?' },
    { id: `msg_${turn}_reply`, role: 'assistant', content: 'Then this.', finish_reason: 'stop', usage, cost: 1 },
  ])
  const path = `/api/conversations/${CONVERSATION}/messages`
  const before = ANSWERS[path]
  ANSWERS[path] = page(turns.flat().reverse())
  try {
    const resuming = session.resume({ id: CONVERSATION, title: 'Found', agent_id: JANITOR } as ConversationItem)
    await answerUntil(() => store.state.earlierUsage !== undefined)
    await resuming
    assert.equal([store.state.earlierUsage, store.state.transcript.entries.length], [{}, 21], 'the last 20 messages and a note')
    await answerUntil(() => store.state.earlierUsage?.totals !== undefined)
    assert.equal([store.state.earlierUsage?.totals?.tokens, sumConversationUsage(store.state)?.cost], [50, 15])
    store.replaceTranscript([{ kind: 'loaded', messages: turns.flat() as never }])
    assert.is(sumConversationUsage(store.state)?.tokens, 150, '/history shows all of them')
  } finally {
    ANSWERS[path] = before as object
  }
})

test('Up right after the choice recalls a message of the chosen conversation', async () => {
  const { store, type, answerUntil } = await setUp()
  type(`/resume ${CONVERSATION}`, ENTER, UP)
  assert.is(store.state.editor.text, '', 'it waits')
  await answerUntil(() => store.state.conversation?.id === CONVERSATION && store.state.editor.text !== '')
  assert.is(store.state.editor.text, 'A question to find again')
})

test('a message typed while an agent is loaded goes to that agent', async () => {
  const { store, type, sent, answerUntil } = await setUp()
  type(`/agent ${JANITOR}`, ENTER, 'Hello', ENTER)
  assert.equal(sent, [])
  await answerUntil(() => sent.length > 0)
  assert.equal([sent, store.state.agent?.name], [['Janitor: Hello'], 'Janitor'])
})

test('a failed switch changes nothing and keeps typed text without sending it', async () => {
  const { store, session, type, sent, notes, answerUntil } = await setUp()
  session.setModel(model('Chosen') as never)
  type(`/agent ${id('agent', 'f')}`, ENTER, 'Hello', ENTER)
  await answerUntil(() => notes().length > 0)
  assert.equal(
    [sent, store.state.editor.text, store.state.agent?.name, session.agent?.name, session.chosenModel],
    [[], 'Hello', 'Guide', 'Guide', 'Chosen_model'],
  )
})

test('Escape cancels a switch, and its late response changes nothing', async () => {
  const { store, type, notes, request, answerUntil, offer } = await setUp()
  offer()
  type(ENTER)
  const late = await request()
  type('typed', ESC)
  await answerUntil(() => store.state.panel === undefined)
  late.answer()
  let rounds = 0
  await answerUntil(() => ++rounds > 50)
  assert.equal([store.state.conversation?.id, store.state.editor.text, notes()], [OLD_CONVERSATION, 'typed', []])
})

test('a late response to /title does not restore its conversation', async () => {
  const { store, type, notes, request } = await setUp()
  type('/title Renamed', ENTER)
  const late = await request()
  type('/new', ENTER)
  late.answer()
  await waitFor(() => notes().some((note) => note.includes('Renamed')), { intervalMs: 1 })
  assert.is(store.state.conversation, undefined)
})

test('the usage of a stopped reply is loaded from its own conversation', async () => {
  const { store, session, type, request } = await setUp()
  session.replies.join('msg_3')
  await request()
  type(ESC)
  await session.replies.done
  type('/new', ENTER)
  assert.is((await request()).asked, `GET /api/conversations/${OLD_CONVERSATION}/messages`)
  assert.is(store.state.conversation, undefined)
})

test.run()
