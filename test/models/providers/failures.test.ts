import type { ServerResponse } from 'node:http'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { ToolsUnsupportedError } from '../../../daemon/models/chat-model.ts'
import { reportFailure } from '../../harness/hooks.ts'
import { formatEvents, type ProviderFormat } from '../../harness/provider-formats.ts'
import {
  disconnectAfter,
  endEarlyAfter,
  formatErrorBody,
  hang,
  respondWithError,
  ScriptedProvider,
  type Step,
  sendBody,
  stallAfter,
  streamText,
  trickle,
} from '../../harness/scripted-provider.ts'
import { captureStreamError, collectParts, createRequest, joinText, KEY, ProviderFixture } from './provider-fixture.ts'

const FORMATS: readonly ProviderFormat[] = ['openai', 'anthropic', 'google']
const test = suite('provider failures')
const fixture = new ProviderFixture()
/** Each has one short timeout, so that a slow machine does not hit another. */
const impatient = {
  firstByte: new ProviderFixture({ firstByteMs: 300 }),
  idle: new ProviderFixture({ idleMs: 1_000 }),
  total: new ProviderFixture({ totalMs: 1_500 }),
}
/** Its own delay never ends during a test, so that a retry shows that the delay of the provider was used. */
const patient = new ProviderFixture({ retryDelayMs: 3_600_000 })
const open: ScriptedProvider[] = []
test.after.each(async () => {
  await Promise.all(open.splice(0).map((provider) => provider.close()))
})
test.after(async () => {
  await Promise.all([fixture, patient, ...Object.values(impatient)].map((fixture) => fixture.close()))
})
// Loads the packages, so that tests with short timeouts do not wait for that.
test.before(
  reportFailure(async () => {
    for (const format of FORMATS) await collectParts(fixture.getModel(await start(format, streamText('ready'))))
  }),
)

const start = async (format: ProviderFormat, ...script: [Step, ...Step[]]) => {
  const provider = await ScriptedProvider.start(format, ...script)
  open.push(provider)
  return provider
}

const captureFailure = (provider: ScriptedProvider, request = createRequest(), fields = {}, source = fixture) =>
  captureStreamError(source.getModel(provider, fields), request)

for (const format of FORMATS) {
  test(`${format}: a provider that hangs, stalls or trickles causes a timeout`, async () => {
    const silent = await captureFailure(await start(format, hang), createRequest(), {}, impatient.firstByte)
    assert.is(silent.error.code, 'PROVIDER_TIMEOUT')
    assert.match(silent.error.message, /did not respond within 300 ms/)
    const stalled = await captureFailure(await start(format, stallAfter('Hel', 'lo')), createRequest(), {}, impatient.idle)
    assert.is(stalled.error.code, 'PROVIDER_TIMEOUT')
    assert.match(stalled.error.message, /sent no data for 1 s/)
    assert.is(joinText(stalled.parts), 'Hello')
    const slow = await captureFailure(await start(format, trickle(20)), createRequest(), {}, impatient.total)
    assert.is(slow.error.code, 'PROVIDER_TIMEOUT')
    assert.match(slow.error.message, /did not finish within 1.5 s/)
  })

  test(`${format}: a stream that disconnects or ends early returns its parts and then fails, without a retry`, async () => {
    for (const step of [disconnectAfter, endEarlyAfter]) {
      const provider = await start(format, step('Hel', 'lo'))
      const { parts, error } = await captureFailure(provider)
      assert.is(error.code, 'PROVIDER_ERROR')
      assert.match(error.message, /ended its response early/)
      assert.is(joinText(parts), 'Hello')
      assert.is(provider.received.length, 1, 'retried after text was received')
    }
  })

  test(`${format}: an invalid response fails with an error that shows it`, async () => {
    for (const bytes of ['<html>hello from the proxy</html>', 'data: {"what": "is this"}\n\n', 'data: {broken\n\n', '{"choices":[]}']) {
      const { error } = await captureFailure(await start(format, sendBody(bytes)))
      assert.is(error.code, 'PROVIDER_ERROR')
    }
    const { error } = await captureFailure(await start(format, sendBody('<html>hello from the \u001b[31mproxy</html>')))
    assert.match(error.message, /<html>hello from the \[31mproxy/)
    const nothing = await start(format, sendBody(''))
    assert.match((await captureFailure(nothing)).error.message, /sent an empty response/)
    assert.is(nothing.received.length, 3)
  })

  test(`${format}: temporary errors are retried twice and reported with the provider's message`, async () => {
    for (const status of [408, 429, 500, 502, 503, 529]) {
      const recovered = await start(format, respondWithError(status), respondWithError(status), streamText('Here I am.'))
      assert.is(joinText(await collectParts(fixture.getModel(recovered))), 'Here I am.')
      const lasting = await start(format, respondWithError(status))
      const { error } = await captureFailure(lasting)
      assert.is(error.code, 'PROVIDER_ERROR')
      assert.match(error.message, new RegExp(`returned ${status}: scripted error ${status}`))
      assert.is(lasting.received.length, 3)
    }
  })

  test(`${format}: permanent errors are not retried`, async () => {
    for (const status of [400, 401, 403, 404, 413, 422]) {
      const provider = await start(format, respondWithError(status))
      const { error } = await captureFailure(provider)
      assert.match(error.message, new RegExp(`returned ${status}: `))
      assert.is(provider.received.length, 1)
    }
  })

  test(`${format}: an error after the first text is reported and not retried`, async () => {
    const event = format === 'anthropic' ? 'event: error\n' : ''
    const error = `${event}data: ${JSON.stringify(formatErrorBody(format, 529, 'too many people'))}\n\n`
    const provider = await start(format, (response) => {
      response
        .writeHead(200, { 'content-type': 'text/event-stream' })
        .end(formatEvents(format, { text: ['Hel'], finish: null }).join('') + error)
    })
    const failed = await captureFailure(provider)
    assert.is(failed.error.code, 'PROVIDER_ERROR')
    assert.is(joinText(failed.parts), 'Hel')
    if (format !== 'google') assert.match(failed.error.message, /too many people/)
    assert.is(provider.received.length, 1)
  })

  test(`${format}: an abort cancels the request with the reason of the signal`, async () => {
    for (const step of [hang, stallAfter('Hel')]) {
      const provider = await start(format, step)
      const abort = new AbortController()
      const arrival = provider.nextRequest()
      const call = collectParts(fixture.getModel(provider), { ...createRequest(), signal: abort.signal })
      const { closed } = await arrival
      const reason = new Error('the reader left')
      setTimeout(() => abort.abort(reason), 20)
      await call.then(
        () => assert.unreachable(),
        (error) => assert.is(error, reason),
      )
      await closed
    }
  })

  test(`${format}: the request is cancelled when the reader stops`, async () => {
    const provider = await start(format, stallAfter('a', 'b', 'c'))
    for await (const part of fixture.getModel(provider).stream(createRequest())) {
      assert.is(part.type, 'text')
      break
    }
    await provider.received[0]?.closed
  })
}

test('an overload error before the first text is retried, also inside the stream', async () => {
  const overloaded: Step = (response) =>
    response
      .writeHead(200, { 'content-type': 'text/event-stream' })
      .end(`event: error\ndata: ${JSON.stringify(formatErrorBody('anthropic', 529, 'Overloaded'))}\n\n`)
  assert.is(joinText(await collectParts(fixture.getModel(await start('anthropic', overloaded, streamText('Now.'))))), 'Now.')
  assert.match((await captureFailure(await start('anthropic', overloaded))).error.message, /Overloaded/)
})

test('retries wait for Retry-After, unless it is too long or the quota is exhausted', async () => {
  for (const headers of [{ 'retry-after': '0.01' }, { 'retry-after-ms': '10' }] as Record<string, string>[]) {
    const provider = await start('openai', respondWithError(429, undefined, headers), streamText('Now.'))
    assert.is(joinText(await collectParts(patient.getModel(provider))), 'Now.')
  }
  const greedy = await start('openai', respondWithError(429, undefined, { 'retry-after': '3600' }))
  const { error } = await captureFailure(greedy)
  assert.match(error.hint ?? '', /try again in 3600 s/)
  assert.is(greedy.received.length, 1)
  const google = await start('google', respondWithError(429, { error: { code: 429, message: 'Quota', details: [{ retryDelay: '37s' }] } }))
  assert.match((await captureFailure(google)).error.hint ?? '', /try again in 37 s/)
  const spent = await start(
    'openai',
    respondWithError(429, { error: { message: 'You exceeded your current quota', code: 'insufficient_quota' } }),
  )
  await captureFailure(spent)
  assert.is(spent.received.length, 1)
})

test('errors redact the API key in every encoding that a provider repeats', async () => {
  const spellings = [KEY, encodeURIComponent(KEY), JSON.stringify(`"${KEY}"`), Buffer.from(`:${KEY}`).toString('base64')]
  for (const spelling of spellings) {
    const provider = await start('openai', respondWithError(401, { error: { message: `Incorrect API key provided: ${spelling}. Bye.` } }))
    const { error } = await captureFailure(provider)
    assert.not(error.message.includes(spelling))
    assert.match(error.message, /Incorrect API key provided: .*\[redacted\]/)
    assert.match(error.hint ?? '', /Check the API key/)
  }
  const inside = await start('openai', sendBody(`data: {"error": {"message": "no ${KEY} here"}}\n\n`))
  assert.match((await captureFailure(inside)).error.message, /no \[redacted\] here/)
})

test('the message of a provider error is truncated', async () => {
  const { error } = await captureFailure(await start('openai', respondWithError(400, 'x'.repeat(5_000_000))))
  assert.ok(error.message.length < 1_000)
})

test('an error status is reported even if its body is cut off or too slow', async () => {
  const begun = (response: ServerResponse) => response.writeHead(401, { 'content-length': '1000' })
  const cut = await captureFailure(
    await start('openai', (response) => begun(response).write('Bad key', () => setTimeout(() => response.destroy(), 20))),
  )
  assert.match(cut.error.message, /returned 401: Bad key/)
  const slow = await captureFailure(
    await start('openai', (response) => begun(response).flushHeaders()),
    createRequest(),
    {},
    impatient.firstByte,
  )
  assert.match(slow.error.message, /returned 401\./)
})

test('a redirect is an error and is not followed, because it would forward the key', async () => {
  const other = await start('openai', streamText('gotcha'))
  const provider = await start('openai', respondWithError(307, 'moved', { location: other.url }))
  assert.match((await captureFailure(provider)).error.message, /returned 307/)
  assert.is(other.received.length, 0)
})

test('a refused connection and an unknown host have their own hints', async () => {
  const gone = await start('openai', hang)
  const fields = { endpoint: gone.url }
  await gone.close()
  open.splice(0)
  const refused = await captureFailure(gone, createRequest(), fields)
  assert.is(refused.error.code, 'PROVIDER_ERROR')
  assert.match(refused.error.hint ?? '', /Check that the server is running/)
  const nowhere = await captureFailure(gone, createRequest(), { endpoint: 'http://nowhere.invalid/v1' })
  assert.is(nowhere.error.code, 'PROVIDER_ERROR')
  assert.match(nowhere.error.hint ?? '', /Check the endpoint for typos/)
})

test('a host name with a private address is blocked unless an admin set the endpoint', async () => {
  const provider = await start('openai', streamText('inside'))
  const privateDns = new ProviderFixture({}, async () => [{ address: '127.0.0.1', family: 4 }])
  const named = { endpoint: `http://models.example.com:${provider.port}/v1` }
  for (const endpoint of [named.endpoint, provider.url, `http://localhost:${provider.port}/v1`]) {
    const { error } = await captureFailure(provider, createRequest(), { endpoint, allow_private: false }, privateDns)
    assert.is(error.code, 'ADDRESS_BLOCKED')
    assert.match(error.hint ?? '', /an admin must set its endpoint/)
  }
  assert.is(provider.received.length, 0)
  assert.is(joinText(await collectParts(privateDns.getModel(provider, named))), 'inside')
  await privateDns.close()
})

test('a kept connection that the server closed is reopened', async () => {
  const provider = await start('openai', streamText('one'), (response) => response.destroy(), streamText('two'))
  assert.is(joinText(await collectParts(fixture.getModel(provider))), 'one')
  assert.is(joinText(await collectParts(fixture.getModel(provider))), 'two')
})

test('a model without tool support fails once and is not sent tools again', async () => {
  const errors = [
    [400, 'registry.ollama.ai/library/gemma:2b does not support tools'],
    [400, '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'],
    [500, 'tools param requires --jinja flag'],
  ] as const
  for (const [status, message] of errors) {
    const provider = await start('openai', respondWithError(status, { error: { message } }), streamText('ok'))
    const model = fixture.getModel(provider, { id: message })
    const request = { ...createRequest(), tools: [{ name: 'clock', description: '', parameters: { type: 'object' } }] }
    assert.ok(model.canCallTools)
    await collectParts(model, request).then(
      () => assert.unreachable(),
      (error) => {
        assert.instance(error, ToolsUnsupportedError)
        assert.is(error.code, 'PROVIDER_ERROR')
      },
    )
    assert.not(model.canCallTools)
    assert.is(joinText(await collectParts(model, request)), 'ok')
    assert.is(provider.received[1]?.body.tools, undefined)
    assert.is(provider.received.length, 2)
  }
})

test.run()
