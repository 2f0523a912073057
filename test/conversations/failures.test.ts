import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { ProviderTimeouts } from '../../daemon/models/providers/http-exchange.ts'
import type { ErrorCode } from '../../src/contract/errors.ts'
import { expectError } from '../harness/expect.ts'
import { reportFailure } from '../harness/hooks.ts'
import { formatEvents } from '../harness/provider-formats.ts'
import {
  disconnectAfter,
  endEarlyAfter,
  hang,
  respondWithError,
  type ScriptedProvider,
  type Step,
  sendBody,
  stallAfter,
  streamReply,
  streamText,
  trickle,
} from '../harness/scripted-provider.ts'
import type { Json } from '../harness/test-server.ts'
import { waitFor } from '../harness/wait-for.ts'
import { ConversationFixture } from './conversation-fixture.ts'

const test = suite('failures')
const TIMEOUTS = { firstByteMs: 300, idleMs: 300, totalMs: 1_500, retryDelayMs: 5 } satisfies Partial<ProviderTimeouts>
let fixture: ConversationFixture
let provider: ScriptedProvider

test.before(
  reportFailure(async () => {
    ;[fixture, provider] = await ConversationFixture.openWithProvider({ providerTimes: TIMEOUTS })
  }),
)
test.after(reportFailure(() => Promise.all([fixture.close(), provider.close()])))

const listCalls = (messageId: string): Promise<Json[]> =>
  fixture.service.database.all('SELECT status, input_tokens, output_tokens, cost FROM usage_calls WHERE message_id = ? ORDER BY id', [
    messageId,
  ])

async function requireSameUsage(message: Json): Promise<Json[]> {
  const calls = await listCalls(message.id)
  const sum = (field: string) => calls.reduce((total, call) => total + call[field], 0)
  assert.equal([message.usage.input_tokens, message.usage.output_tokens], [sum('input_tokens'), sum('output_tokens')])
  assert.ok(Math.abs(message.cost - sum('cost')) < 1e-9)
  return calls
}

/** Behaviour of the provider, error code, stored text and whether input is counted. */
const FAILURES: [string, Step, ErrorCode, string, boolean][] = [
  ['refuses', respondWithError(401), 'PROVIDER_ERROR', '', false],
  ['is broken', respondWithError(500), 'PROVIDER_ERROR', '', false],
  ['is overloaded', respondWithError(503), 'PROVIDER_ERROR', '', false],
  ['limits the rate', respondWithError(429), 'PROVIDER_ERROR', '', false],
  ['asks for a long retry delay', respondWithError(429, undefined, { 'retry-after': '3600' }), 'PROVIDER_ERROR', '', false],
  ['hangs', hang, 'PROVIDER_TIMEOUT', '', true],
  ['stops in the middle', stallAfter('so', ' far'), 'PROVIDER_TIMEOUT', 'so far', true],
  ['is cut', disconnectAfter('so', ' far'), 'PROVIDER_ERROR', 'so far', true],
  ['ends without a finish event', endEarlyAfter('so', ' far'), 'PROVIDER_ERROR', 'so far', true],
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

for (const [what, step, code, content, read] of FAILURES) {
  test(`a provider that ${what}: text is stored, usage counted once, and the next message works`, async () => {
    const id = await fixture.startConversation(provider)
    provider.script = [step]
    if (content === '') await expectError(fixture.send(id, 'Hi'), code)
    else {
      const stream = await fixture.stream(id, 'Hi')
      const { data } = await stream.readUntil('error')
      assert.equal([data.code, stream.replyText, await stream.next()], [code, content, undefined])
    }
    const [, reply] = await fixture.listMessages(id)
    assert.equal([reply?.content, reply?.finish_reason, reply?.error_code], [content, 'error', code])
    assert.ok(reply?.error.length > 10)
    const [call, ...more] = await requireSameUsage(reply)
    assert.equal([call.status, more.length, call.input_tokens > 0, call.output_tokens > 0], ['failed', 0, read, content !== ''])
    provider.script = [streamText('fine')]
    const next = await fixture.sendAndWait(id, 'Again')
    assert.equal([next.content, next.finish_reason], ['fine', 'stop'])
    await requireSameUsage(next)
  })
}

test('a failure in a later step keeps text and usage of earlier steps', async () => {
  const id = await fixture.startConversation(provider)
  provider.script = [streamReply({ text: ['Let me see.'], calls: [{ name: 'nothing', arguments: {} }] }), respondWithError(400)]
  const stream = await fixture.stream(id, 'Hi')
  await stream.readUntil('error')
  const [, reply] = await fixture.listMessages(id)
  assert.equal([reply?.content, reply?.finish_reason, reply?.usage.total_tokens], ['Let me see.', 'error', 17])
  assert.is(reply?.context_tokens, 17)
  assert.equal(
    (await requireSameUsage(reply)).map(({ status }) => status),
    ['done', 'failed'],
  )
})

test('the usage of an aborted reply is estimated', async () => {
  const id = await fixture.startConversation(provider)
  provider.script = [stallAfter('one two three four')]
  const stream = await fixture.stream(id, 'Hi')
  await stream.readUntil('message_delta')
  stream.disconnect()
  const reply = await waitFor(async () => {
    const [, last] = await fixture.listMessages(id)
    return last?.finish_reason === 'aborted' && last
  })
  const [call] = await requireSameUsage(reply)
  assert.equal([call.status, call.output_tokens], ['aborted', 5])
  assert.ok(call.input_tokens > 3)
})

test('usage is estimated if the provider does not report it', async () => {
  const id = await fixture.startConversation(provider)
  provider.script = [streamReply({ text: ['one two three four'], usage: null })]
  const reply = await fixture.sendAndWait(id, 'Hi')
  await requireSameUsage(reply)
  assert.ok(reply.usage.input_tokens > 3 && reply.usage.output_tokens === 5, JSON.stringify(reply.usage))
})

test('length and content_filter are reported as finish reasons', async () => {
  const id = await fixture.startConversation(provider)
  for (const [finish, reason] of [
    ['length', 'length'],
    ['content_filter', 'content_filter'],
  ]) {
    provider.script = [streamReply({ text: ['as far as'], finish: finish as string })]
    assert.is((await fixture.sendAndWait(id, 'Hi')).finish_reason, reason)
  }
})

test.run()
