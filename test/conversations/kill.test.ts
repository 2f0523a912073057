import { randomInt } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openDatabase } from '../../daemon/store/database.ts'
import { decodeEvents } from '../../src/sse.ts'
import { type DaemonProcess, startDaemon, TOKEN } from '../harness/daemon.ts'
import { reportFailure } from '../harness/hooks.ts'
import { ScriptedProvider, streamReply } from '../harness/scripted-provider.ts'
import type { Json } from '../harness/test-server.ts'
import { waitFor } from '../harness/wait-for.ts'

const ROUNDS = 3
const CONCURRENCY = 8
const WORDS = Array.from({ length: 60 }, (_, at) => ` word${at}`)
/** Text of a complete reply, before and after its tool call. */
const FULL_TEXT = [...WORDS.slice(0, 5), ...WORDS].join('')

const test = suite('kill -9 while replies stream')
let root: string
let daemon: DaemonProcess
let provider: ScriptedProvider

test.before(
  reportFailure(async () => {
    root = mkdtempSync(join(tmpdir(), 'cadre-kill-'))
    const turn = ({ body }: Json) =>
      body.messages.at(-1).role === 'tool' ? { text: WORDS } : { text: WORDS.slice(0, 5), calls: [{ name: 'none', arguments: {} }] }
    provider = await ScriptedProvider.start('openai', streamReply(turn, 10))
  }),
)
test.after(
  reportFailure(async () => {
    await daemon.kill()
    await provider.close()
    rmSync(root, { recursive: true, force: true })
  }),
)

async function callApi(method: string, path: string, body?: unknown): Promise<Json> {
  const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' }
  const reply = await fetch(`${daemon.url}/api${path}`, { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) })
  return ((await reply.json()) as Json).data
}

interface ObservedReply {
  conversation: string
  question: string
  /** Id of the user message, once its reply started. */
  acknowledged?: string
  reply?: string
  text: string
  ended: boolean
}

/** Sends messages until the daemon is killed. */
async function sendMessages(conversation: string, round: number, seen: ObservedReply[]): Promise<void> {
  for (let count = 0; ; count++) {
    const one: ObservedReply = { conversation, question: `round ${round}, question ${count}`, text: '', ended: false }
    seen.push(one)
    try {
      const reply = await fetch(`${daemon.url}/api/conversations/${conversation}/messages`, {
        method: 'POST',
        headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
        body: JSON.stringify({ message: one.question, stream: true }),
      })
      for await (const { event, data } of decodeEvents(reply.body as unknown as AsyncIterable<Uint8Array>)) {
        const value = JSON.parse(data)
        if (event === 'message_start') Object.assign(one, { acknowledged: value.user_message_id, reply: value.message_id })
        if (event === 'message_delta') one.text += value.text
        if (event === 'message_end') one.ended = true
      }
    } catch {
      return // killed
    }
  }
}

test('after kill -9 acknowledged messages exist, replies are interrupted and usage is exact', async () => {
  const home = join(root, 'home')
  daemon = await startDaemon(home, { token: TOKEN })
  const model = await callApi('POST', '/models', { ...provider.model, name: 'scripted', pricing: { input: 1, output: 2 } })
  const agent = await callApi('POST', '/agents', { name: 'talker', model_id: model.id })
  const seen: ObservedReply[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const conversations = await Promise.all(
      Array.from({ length: CONCURRENCY }, () => callApi('POST', '/conversations', { agent_id: agent.id })),
    )
    const talking = conversations.map(({ id }) => sendMessages(id, round, seen))
    const isStreaming = (id: string) => seen.some(({ conversation, text }) => conversation === id && text !== '')
    await waitFor(() => conversations.every(({ id }) => isStreaming(id)))
    await pause(randomInt(2_000))
    await daemon.kill()
    await Promise.all(talking)
    daemon = await startDaemon(home, { token: TOKEN })
  }
  const interrupted = await requireStored(seen)
  assert.ok(interrupted > ROUNDS, `only ${interrupted} were interrupted`)
  const { total_tokens } = await callApi('GET', `/usage/stats?entity_type=agent&entity_id=${agent.id}`)
  await daemon.stop()
  const database = openDatabase(join(home, 'cadre.db'))
  const messages = (await database.all<{ id: string; details: string }>("SELECT id, details FROM messages WHERE role = 'assistant'")).map(
    ({ id, details }) => ({
      id,
      ...JSON.parse(details),
    }),
  )
  assert.is(
    total_tokens,
    messages.reduce((sum, { usage }) => sum + usage.total_tokens, 0),
  )
  for (const { id, usage, cost } of messages) {
    const calls = await database.all<Json>('SELECT * FROM usage_calls WHERE message_id = ?', [id])
    const sum = (field: string) => calls.reduce((total, entry) => total + entry[field], 0)
    assert.equal([usage.input_tokens, usage.output_tokens], [sum('input_tokens'), sum('output_tokens')])
    assert.ok(Math.abs(cost - sum('cost')) < 1e-9)
    assert.ok(calls.length > 0 && calls.every(({ status }) => status !== 'open'))
  }
  assert.equal(await database.all('SELECT * FROM replies_under_way'), [])
  await database.close()
  daemon = await startDaemon(home, { token: TOKEN })
})

/** Checks that everything observed is stored; returns the number of interrupted replies. */
async function requireStored(seen: readonly ObservedReply[]): Promise<number> {
  let interrupted = 0
  for (const { conversation, question, acknowledged, reply, text, ended } of seen) {
    if (!acknowledged) continue
    const { messages } = await callApi('GET', `/conversations/${conversation}`)
    const user = messages.find(({ id }: Json) => id === acknowledged)
    assert.is(user?.content, question)
    const answer = messages.find(({ id }: Json) => id === reply)
    // The end is stored before it is sent; the kill may happen in between.
    const finished = ended || (answer?.finish_reason === 'stop' && answer.content === FULL_TEXT)
    assert.is(answer?.finish_reason, finished ? 'stop' : 'interrupted', JSON.stringify(answer))
    if (ended) assert.is(answer.content, text)
    else {
      if (!finished) interrupted++
      assert.ok(text.startsWith(answer.content.slice(0, text.length)), `${text} | ${answer.content}`)
    }
  }
  return interrupted
}

test('an interrupted reply is replayed as an error, and the conversation continues', async () => {
  const model = await callApi('POST', '/models', { ...provider.model, name: 'again', model_id: 'again' })
  const agent = await callApi('POST', '/agents', { name: 'again', model_id: model.id })
  const { id } = await callApi('POST', '/conversations', { agent_id: agent.id })
  const seen: ObservedReply[] = []
  const talking = sendMessages(id, 0, seen)
  await waitFor(() => seen[0] !== undefined && seen[0].text !== '', { intervalMs: 5 })
  await daemon.kill()
  await talking
  daemon = await startDaemon(join(root, 'home'), { token: TOKEN })
  const events = await fetch(`${daemon.url}/api/conversations/${id}/messages/${seen[0]?.reply}/events`, {
    headers: { authorization: `Bearer ${TOKEN}` },
  })
  assert.match(
    await events.text(),
    /event: error\ndata: \{"error":"The daemon stopped before the reply was complete[^\n]*"code":"UNAVAILABLE"/,
  )
  const next = await callApi('POST', `/conversations/${id}/messages`, { message: 'And now?' })
  assert.is(next.finish_reason, 'stop')
})

test('after kill -9 a repeated request with the same Idempotency-Key generates the whole reply', async () => {
  const model = await callApi('POST', '/models', { ...provider.model, name: 'repeated', model_id: 'repeated' })
  const agent = await callApi('POST', '/agents', { name: 'repeated', model_id: model.id })
  const { id } = await callApi('POST', '/conversations', { agent_id: agent.id })
  const send = () =>
    fetch(`${daemon.url}/api/conversations/${id}/messages`, {
      method: 'POST',
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json', 'idempotency-key': 'killed' },
      body: JSON.stringify({ message: 'Go on' }),
    })
  const lost = send().catch(() => undefined)
  const readReply = async () => (await callApi('GET', `/conversations/${id}`)).messages.at(-1)
  await waitFor(async () => Boolean((await readReply())?.content), { intervalMs: 5 })
  await daemon.kill()
  await lost
  daemon = await startDaemon(join(root, 'home'), { token: TOKEN })
  const again = await send()
  const { data } = (await again.json()) as Json
  assert.equal([again.status, data.content, data.finish_reason], [200, FULL_TEXT, 'stop'])
  const { messages } = await callApi('GET', `/conversations/${id}`)
  assert.equal([messages.length, messages[1]], [2, data])
})

test.run()
