import type { ServerResponse } from 'node:http'
import { setImmediate } from 'node:timers/promises'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { formatEvents } from '../../harness/provider-formats.ts'
import { respondWithError, ScriptedProvider, type Step, sendBody, streamReply } from '../../harness/scripted-provider.ts'
import { collectParts, createRequest, joinText, ProviderFixture } from './provider-fixture.ts'

const test = suite('OpenAI-compatible servers')
const fixture = new ProviderFixture()
/** Its timeouts are longer than a test may take. */
const patient = new ProviderFixture({ idleMs: 600_000, totalMs: 600_000 })
const open: ScriptedProvider[] = []
test.after.each(async () => {
  await Promise.all(open.splice(0).map((provider) => provider.close()))
})
test.after(async () => {
  await Promise.all([fixture.close(), patient.close()])
})

const start = async (...script: [Step, ...Step[]]) => {
  const provider = await ScriptedProvider.start('openai', ...script)
  open.push(provider)
  return provider
}

test('a server that rejects stream_options is retried without it, and not sent it again', async () => {
  const strict: Step = (response, received, format) =>
    received.body.stream_options
      ? respondWithError(422, { message: 'Extra inputs are not permitted: stream_options' })(response, received, format)
      : streamReply({ text: ['ok'], usage: null })(response, received, format)
  const provider = await start(strict)
  const model = fixture.getModel(provider)
  assert.is(joinText(await collectParts(model)), 'ok')
  assert.is(joinText(await collectParts(model)), 'ok')
  assert.is(provider.received.length, 3)
})

test('reasoning is separate from the text, in each field that servers use', async () => {
  const deltas = [
    { reasoning_content: 'think' },
    { reasoning: 'think' },
    { content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'think' }] }] },
  ]
  for (const delta of deltas) {
    const chunks = [delta, { content: 'ok' }].map((part) => `data: ${JSON.stringify({ choices: [{ index: 0, delta: part }] })}\n\n`)
    const parts = await collectParts(fixture.getModel(await start(sendBody(`${chunks.join('')}data: [DONE]\n\n`))))
    assert.equal(
      parts.slice(0, -1),
      [
        { type: 'reasoning', text: 'think' },
        { type: 'text', text: 'ok' },
      ],
      JSON.stringify(delta),
    )
  }
})

test('a reply with [DONE] and no finish reason is complete', async () => {
  const events = formatEvents('openai', { text: ['ok'], finish: null }).join('')
  const parts = await collectParts(fixture.getModel(await start(sendBody(`${events}data: [DONE]\n\n`))))
  assert.equal(parts.at(-1), { type: 'end', finishReason: 'other', usage: undefined })
})

test('a reply is complete after [DONE] even if the server stays connected or disconnects; closed ones reuse the connection', async () => {
  const ports: (number | undefined)[] = []
  const done =
    (then: (response: ServerResponse) => unknown): Step =>
    (response, _, format) => {
      ports.push(response.socket?.remotePort)
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(formatEvents(format, { text: ['All of it.'] }).join(''), () => setTimeout(then, 20, response))
    }
  const closes = done((response) => response.end())
  const stays = done(() => {})
  const breaks = done((response) => response.destroy())
  const script = [closes, closes, stays, breaks, stays] as const
  const provider = await start(...script)
  for (const _ of script) {
    const parts = await collectParts(patient.getModel(provider), createRequest())
    assert.is(joinText(parts), 'All of it.')
    assert.is((parts.at(-1) as { finishReason: string }).finishReason, 'stop')
    await setImmediate() // undici does not reuse a connection within this time after its last use
  }
  assert.is(ports[1], ports[0])
})

test('a response of unknown lines is rejected as invalid, with the start of its body', async () => {
  const provider = await start(sendBody('hello\n'.repeat(5_000)))
  await collectParts(fixture.getModel(provider)).then(
    () => assert.unreachable(),
    (error) => {
      assert.is(error.code, 'PROVIDER_ERROR')
      assert.match(error.message, /sent an invalid response: hello hello/)
    },
  )
})

test.run()
