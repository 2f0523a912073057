import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { ErrorCode } from '../../src/contract/errors.ts'
import { expectError } from '../harness/expect.ts'
import { aloud } from '../harness/hooks.ts'
import { formatEvents } from '../harness/provider-formats.ts'
import {
  disconnectAfter,
  endEarlyAfter,
  hang,
  respondWithError,
  ScriptedProvider,
  type Step,
  sendBody,
  stallAfter,
  streamReply,
  streamText,
  trickle,
} from '../harness/scripted-provider.ts'
import type { Json } from '../harness/test-server.ts'
import { waitFor } from '../knowledge/knowledge-fixture.ts'
import { ConversationFixture } from './conversation-fixture.ts'

const test = suite('failures')
const LIMITS = { firstByteMs: 300, idleMs: 300, wholeMs: 1_500, pauseMs: 5 }
let parlour: ConversationFixture
let provider: ScriptedProvider

test.before(
  aloud(async () => {
    parlour = await ConversationFixture.open({ providerTimes: LIMITS })
    provider = await ScriptedProvider.start('openai', streamText('x'))
  }),
)
test.after(aloud(() => Promise.all([parlour.close(), provider.close()])))

/** What the ledger holds for a message. */
const ledger = (messageId: string): Promise<Json[]> =>
  parlour.service.database.all('SELECT status, input_tokens, output_tokens, cost FROM usage_calls WHERE message_id = ? ORDER BY id', [
    messageId,
  ])

async function agrees(message: Json): Promise<Json[]> {
  const calls = await ledger(message.id)
  const sum = (field: string) => calls.reduce((total, call) => total + call[field], 0)
  assert.equal([message.usage.input_tokens, message.usage.output_tokens], [sum('input_tokens'), sum('output_tokens')])
  assert.ok(Math.abs(message.cost - sum('cost')) < 1e-9)
  return calls
}

/** What it does, how that is told, what came before, and whether it read the question. */
const OUTCOMES: [string, Step, ErrorCode, string, boolean][] = [
  ['refuses', respondWithError(401), 'PROVIDER_ERROR', '', false],
  ['is broken', respondWithError(500), 'PROVIDER_ERROR', '', false],
  ['is overloaded for good', respondWithError(503), 'PROVIDER_ERROR', '', false],
  ['has had enough', respondWithError(429), 'PROVIDER_ERROR', '', false],
  ['asks for patience and gets none', respondWithError(429, undefined, { 'retry-after': '3600' }), 'PROVIDER_ERROR', '', false],
  ['hangs', hang, 'PROVIDER_TIMEOUT', '', true],
  ['stops in the middle', stallAfter('so', ' far'), 'PROVIDER_TIMEOUT', 'so far', true],
  ['is cut', disconnectAfter('so', ' far'), 'PROVIDER_ERROR', 'so far', true],
  ['ends without an end', endEarlyAfter('so', ' far'), 'PROVIDER_ERROR', 'so far', true],
  ['sends garbage', sendBody('\u0000<<no stream>>\n\n'), 'PROVIDER_ERROR', '', false],
  ['sends a page', sendBody('<html>Sign in</html>', 'text/html'), 'PROVIDER_ERROR', '', false],
  [
    'sends garbage in the middle',
    sendBody(`${formatEvents('openai', { text: ['so', ' far'], finish: null }).join('')}data: {"choices": <<\n\n`),
    'PROVIDER_ERROR',
    'so far',
    true,
  ],
  ['sends a byte at a time', trickle(20), 'PROVIDER_TIMEOUT', '', true],
  ['sends a byte at a time after a while', trickle(20, 'so', ' far'), 'PROVIDER_TIMEOUT', 'so far', true],
]

for (const [what, step, code, content, read] of OUTCOMES) {
  test(`a provider that ${what}: a typed outcome, what came is stored, counted once, and the next message works`, async () => {
    const id = await parlour.startConversation(provider)
    provider.script = [step]
    const begun = performance.now()
    if (content === '') await expectError(parlour.send(id, 'Hi'), code)
    else {
      const stream = await parlour.stream(id, 'Hi')
      const { data } = await stream.readUntil('error')
      assert.equal([data.code, stream.replyText, await stream.next()], [code, content, undefined])
    }
    assert.ok(performance.now() - begun < LIMITS.wholeMs + 1_000, 'the limits of time do not hold')
    const [, reply] = await parlour.listMessages(id)
    assert.equal([reply?.content, reply?.finish_reason, reply?.error_code], [content, 'error', code])
    assert.ok(reply?.error.length > 10)
    const [call, ...more] = await agrees(reply)
    assert.equal([call.status, more.length, call.input_tokens > 0, call.output_tokens > 0], ['failed', 0, read, content !== ''])
    provider.script = [streamText('fine')]
    const next = await parlour.sendAndWait(id, 'Again')
    assert.equal([next.content, next.finish_reason], ['fine', 'stop'])
    await agrees(next)
  })
}

test('a failure in a later step keeps and counts what was before it', async () => {
  const id = await parlour.startConversation(provider)
  provider.script = [streamReply({ text: ['Let me see.'], calls: [{ name: 'nothing', arguments: {} }] }), respondWithError(400)]
  const stream = await parlour.stream(id, 'Hi')
  await stream.readUntil('error')
  const [, reply] = await parlour.listMessages(id)
  assert.equal([reply?.content, reply?.finish_reason, reply?.usage.total_tokens], ['Let me see.', 'error', 17])
  assert.equal(
    (await agrees(reply)).map(({ status }) => status),
    ['done', 'failed'],
  )
})

test('an aborted reply is counted by what was read and written', async () => {
  const id = await parlour.startConversation(provider)
  provider.script = [stallAfter('one two three four')]
  const stream = await parlour.stream(id, 'Hi')
  await stream.readUntil('message_delta')
  stream.disconnect()
  const reply = await waitFor(async () => {
    const [, last] = await parlour.listMessages(id)
    return last?.finish_reason === 'aborted' && last
  })
  const [call] = await agrees(reply)
  assert.equal([call.status, call.output_tokens], ['aborted', 5])
  assert.ok(call.input_tokens > 3)
})

test('a provider that does not count is counted by us', async () => {
  const id = await parlour.startConversation(provider)
  provider.script = [streamReply({ text: ['one two three four'], usage: null })]
  const reply = await parlour.sendAndWait(id, 'Hi')
  await agrees(reply)
  assert.ok(reply.usage.input_tokens > 3 && reply.usage.output_tokens === 5, JSON.stringify(reply.usage))
})

test('a reply that ends for another reason says which', async () => {
  const id = await parlour.startConversation(provider)
  for (const [finish, reason] of [
    ['length', 'length'],
    ['content_filter', 'content_filter'],
  ]) {
    provider.script = [streamReply({ text: ['as far as'], finish: finish as string })]
    assert.is((await parlour.sendAndWait(id, 'Hi')).finish_reason, reason)
  }
})

test.run()
