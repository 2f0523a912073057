import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { estimateTokens } from '../../../daemon/models/token-estimate.ts'
import { expectData, expectError } from '../../harness/expect.ts'
import {
  type ReceivedRequest,
  respondWithError,
  type ScriptedProvider,
  type Step,
  streamReply,
  streamText,
} from '../../harness/scripted-provider.ts'
import type { Json } from '../../harness/test-server.ts'
import { ConversationFixture } from '../conversation-fixture.ts'

const WINDOW = 4_000
const TURNS = 300

const test = suite('long conversations')
let fixture: ConversationFixture
let provider: ScriptedProvider

test.before.each(async () => {
  ;[fixture, provider] = await ConversationFixture.openWithProvider()
})
test.after.each(async () => {
  await fixture.close()
  await provider.close()
})

const getTexts = ({ body }: ReceivedRequest): string[] => body.messages.map(({ content }: Json) => content ?? '')
const isSummary = (request: ReceivedRequest): boolean => /^Summarize the earlier part/.test(getTexts(request)[0] ?? '')
const estimateRequest = (request: ReceivedRequest): number =>
  estimateTokens(JSON.stringify([request.body.messages, request.body.tools ?? []]))

/** Answers messages, and summarizes by listing the facts of the request. */
const chat: Step = streamReply((request) => {
  const text = getTexts(request).join('\n')
  return {
    text: [
      isSummary(request)
        ? [...new Set(text.match(/the code of \w+ is \d+/g)), 'a summary'].join('\n')
        : `Noted. ${'It is stored. '.repeat(10)}`,
    ],
  }
})
const openLong = (fields: Record<string, unknown> = {}) => fixture.startConversation(provider, fields, { context_window: WINDOW })

test('after 300 turns the model still reads the facts of the first one, and no request exceeds the context window', async () => {
  provider.script = [chat]
  const id = await openLong()
  const costs: number[] = []
  for (let turn = 1; turn <= TURNS; turn++) {
    const text =
      turn === 1 ? 'Remember: the code of Ada is 4711. And who is next?' : `Question ${turn}: what do we do about item ${turn * 7}?`
    costs.push((await fixture.sendAndWait(id, text)).cost)
  }
  const last = provider.received.at(-1) as ReceivedRequest
  assert.match(getTexts(last)[0] as string, /the code of Ada is 4711/)
  assert.ok(
    getTexts(last).some((text) => text.startsWith(`Question ${TURNS - 1}:`)),
    'the latest turns stay',
  )
  for (const request of provider.received) assert.ok(estimateRequest(request) < WINDOW, String(estimateRequest(request)))
  const summaries = provider.received.filter(isSummary).length
  assert.ok(summaries > 0 && summaries <= TURNS / 10, `${summaries} summaries`)
  const sum = (part: readonly number[]) => part.reduce((total, cost) => total + cost, 0)
  const [second, third] = [sum(costs.slice(100, 200)), sum(costs.slice(200))]
  assert.ok(third < second * 1.1, `the cost grows linearly: ${second} and ${third}`)
  const conversation = await expectData(fixture.service.get(`/conversations/${id}`))
  assert.is(conversation.message_count, 2 * TURNS, 'nothing is deleted')
  assert.match(conversation.summary.content, /Ada is 4711/)
  const { summarized_messages } = conversation.messages.at(-1)
  assert.is(summarized_messages, conversation.summary.message_count)
  const usage = (await expectData(fixture.service.get('/usage/stats'))).total_cost
  assert.ok(Math.abs(usage - sum(costs)) < 1e-6, 'summaries are part of the usage of replies')
})

/** Fills a conversation until LAST does not fit without a summary. */
async function fill(id: string): Promise<void> {
  provider.script = [streamText('the plan changes '.repeat(48))]
  for (let turn = 1; turn <= 8; turn++) await fixture.sendAndWait(id, `Message ${turn}`)
}
const LAST = `And now? ${'very '.repeat(320)}`

test('if the summary fails, the reply comes without the oldest turns and says so', async () => {
  const id = await openLong()
  await fill(id)
  provider.script = [streamReply((request) => ({ text: [isSummary(request) ? '' : 'ok'] }))]
  const reply = await fixture.sendAndWait(id, LAST)
  assert.is(reply.content, 'ok')
  assert.ok(reply.omitted_messages > 0 && reply.summarized_messages === undefined)
  assert.is((await expectData(fixture.service.get(`/conversations/${id}`))).summary, null)
  // The next message summarizes what was left out.
  provider.script = [chat]
  const next = await fixture.sendAndWait(id, LAST)
  assert.ok(next.summarized_messages > 0 && next.omitted_messages === undefined)
})

test('a model that rejects the summary does not fail the reply', async () => {
  const id = await openLong()
  await fill(id)
  provider.script = [respondWithError(400), streamText('still here')]
  const reply = await fixture.sendAndWait(id, LAST)
  assert.equal([reply.content, reply.omitted_messages > 0], ['still here', true])
})

test('a model that can call tools finds the words of summarized messages', async () => {
  const id = await openLong()
  provider.script = [chat]
  await fixture.sendAndWait(id, 'The vault opens with the phrase heliotrope marmalade.')
  await fill(id)
  const other = await openLong()
  provider.script = [chat]
  await fixture.sendAndWait(other, 'heliotrope is a color of another conversation')
  provider.script = [
    streamReply((request) => {
      if (isSummary(request)) return { text: ['a summary'] }
      const last = request.body.messages.at(-1)
      if (last.role === 'tool') return { text: [last.content] }
      return { text: [], calls: [{ name: 'search_conversation', arguments: { query: 'heliotrope phrase' } }] }
    }),
  ]
  const { content, summarized_messages } = await fixture.sendAndWait(id, `What was the phrase? ${LAST}`)
  assert.ok(summarized_messages > 0)
  assert.match(content, /The vault opens with the phrase heliotrope marmalade/)
  assert.not.match(content, /another conversation/)
})

test('conversations that fit have no summary and no further tool', async () => {
  const id = await openLong()
  provider.script = [chat]
  await fixture.sendAndWait(id, 'One')
  const reply = await fixture.sendAndWait(id, 'Two')
  assert.equal([reply.summarized_messages, reply.omitted_messages], [undefined, undefined])
  assert.is(provider.received.at(-1)?.body.tools, undefined)
})

test('a conversation is compacted on demand, with instructions, and once for the same key', async () => {
  const id = await openLong()
  provider.script = [chat]
  await expectError(fixture.service.post(`/conversations/${id}/compact`), 'CONFLICT')
  for (const text of ['the code of Ada is 1', 'Two', 'Three', 'Four']) await fixture.sendAndWait(id, text)
  const headers = { 'idempotency-key': 'compact-1' }
  const compact = () => expectData(fixture.service.post(`/conversations/${id}/compact`, { instructions: 'Keep codes' }, { headers }))
  const { summary } = await compact()
  assert.equal([summary.content, summary.message_count], ['the code of Ada is 1\na summary', 4])
  assert.match(getTexts(provider.received.at(-1) as ReceivedRequest)[0] as string, /Keep codes/)
  const calls = provider.received.length
  await compact()
  assert.is(provider.received.length, calls)
  await fixture.sendAndWait(id, 'Five')
  const texts = getTexts(provider.received.at(-1) as ReceivedRequest)
  assert.equal([/Ada is 1/.test(texts[0] as string), texts.includes('Two'), texts.includes('Three')], [true, false, true])
})

test('a summary is deleted with a message that it covers', async () => {
  const agent = await fixture.createAgent(provider, {}, { context_window: WINDOW })
  const id = await fixture.createConversation(agent)
  provider.script = [chat]
  for (const text of ['the code of Ada is 1', 'Two', 'Three']) await fixture.sendAndWait(id, text)
  await expectData(fixture.service.post(`/conversations/${id}/compact`))
  const [, reply] = await fixture.listMessages(id)
  const response = await fixture.service.call('DELETE', `/v1/responses/${reply.id.replace('msg_', 'resp_')}`)
  assert.is(response.status, 200)
  assert.is((await expectData(fixture.service.get(`/conversations/${id}`))).summary, null)
})

test.run()
