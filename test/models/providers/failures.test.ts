import type { ServerResponse } from 'node:http'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { type ChatPart, type ChatRequest, ToolsUnsupportedError } from '../../../daemon/models/chat-model.ts'
import { CadreError } from '../../../src/contract/errors.ts'
import { aloud } from '../../harness/hooks.ts'
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
import { collectParts, createRequest, joinText, KEY, ProviderFixture } from './provider-fixture.ts'

const WIRES: readonly ProviderFormat[] = ['openai', 'anthropic', 'google']
const test = suite('failures of providers')
const asking = new ProviderFixture()
/** Each in a hurry in one way only, so that a busy machine does not fail in another. */
const hasty = {
  first: new ProviderFixture({ firstByteMs: 300 }),
  idle: new ProviderFixture({ idleMs: 1_000 }),
  whole: new ProviderFixture({ totalMs: 1_500 }),
}
const open: ScriptedProvider[] = []
test.after.each(async () => {
  await Promise.all(open.splice(0).map((provider) => provider.close()))
})
test.after(async () => {
  await Promise.all([asking, ...Object.values(hasty)].map((each) => each.close()))
})
// The first call loads the package, which takes its time and is not the provider's.
test.before(
  aloud(async () => {
    for (const wire of WIRES) await collectParts(asking.getModel(await start(wire, streamText('ready'))))
  }),
)

const start = async (wire: ProviderFormat, ...script: [Step, ...Step[]]) => {
  const provider = await ScriptedProvider.start(wire, ...script)
  open.push(provider)
  return provider
}

interface Outcome {
  parts: ChatPart[]
  error: CadreError
}

/** How a call that must fail does so. */
async function outcome(provider: ScriptedProvider, request: ChatRequest = createRequest(), fields = {}, from = asking): Promise<Outcome> {
  const parts: ChatPart[] = []
  try {
    for await (const part of from.getModel(provider, fields).stream(request)) parts.push(part)
  } catch (error) {
    assert.instance(error, CadreError)
    for (let cause: unknown = error; cause instanceof Error; cause = cause.cause)
      assert.not(`${cause.stack}${JSON.stringify(cause)}`.includes(KEY), 'the key is in the error')
    return { parts, error: error as CadreError }
  }
  throw new Error(`it did not fail: ${JSON.stringify(parts)}`)
}

for (const wire of WIRES) {
  test(`${wire}: a provider that hangs, stalls or trickles is a timeout, each by the limit that is meant for it`, async () => {
    const silent = await outcome(await start(wire, hang), createRequest(), {}, hasty.first)
    assert.is(silent.error.code, 'PROVIDER_TIMEOUT')
    assert.match(silent.error.message, /did not respond within 300 ms/)
    const stalled = await outcome(await start(wire, stallAfter('Hel', 'lo')), createRequest(), {}, hasty.idle)
    assert.is(stalled.error.code, 'PROVIDER_TIMEOUT')
    assert.match(stalled.error.message, /sent no data for 1 s/)
    assert.is(joinText(stalled.parts), 'Hello')
    const slow = await outcome(await start(wire, trickle(20)), createRequest(), {}, hasty.whole)
    assert.is(slow.error.code, 'PROVIDER_TIMEOUT')
    assert.match(slow.error.message, /did not finish within 1.5 s/)
  })

  test(`${wire}: a stream that is cut or never finishes is an error, and what came of it is there`, async () => {
    for (const step of [disconnectAfter, endEarlyAfter]) {
      const provider = await start(wire, step('Hel', 'lo'))
      const { parts, error } = await outcome(provider)
      assert.is(error.code, 'PROVIDER_ERROR')
      assert.match(error.message, /ended its response early/)
      assert.is(joinText(parts), 'Hello')
      assert.is(provider.received.length, 1, 'asked again after text had come')
    }
  })

  test(`${wire}: garbage is an error that shows what came`, async () => {
    for (const bytes of ['<html>hello from the proxy</html>', 'data: {"what": "is this"}\n\n', 'data: {broken\n\n', '{"choices":[]}']) {
      const { error } = await outcome(await start(wire, sendBody(bytes)))
      assert.is(error.code, 'PROVIDER_ERROR')
    }
    const { error } = await outcome(await start(wire, sendBody('<html>hello from the \u001b[31mproxy</html>')))
    assert.match(error.message, /<html>hello from the \[31mproxy/)
    const nothing = await start(wire, sendBody(''))
    assert.match((await outcome(nothing)).error.message, /sent an empty response/)
    assert.is(nothing.received.length, 3)
  })

  test(`${wire}: what passes is tried again, twice at most, and told in the provider's words`, async () => {
    for (const status of [408, 429, 500, 502, 503, 529]) {
      const recovered = await start(wire, respondWithError(status), respondWithError(status), streamText('Here I am.'))
      assert.is(joinText(await collectParts(asking.getModel(recovered))), 'Here I am.')
      const lasting = await start(wire, respondWithError(status))
      const { error } = await outcome(lasting)
      assert.is(error.code, 'PROVIDER_ERROR')
      assert.match(error.message, new RegExp(`returned ${status}: scripted refusal ${status}`))
      assert.is(lasting.received.length, 3)
    }
  })

  test(`${wire}: what does not pass is not tried again`, async () => {
    for (const status of [400, 401, 403, 404, 413, 422]) {
      const provider = await start(wire, respondWithError(status))
      const { error } = await outcome(provider)
      assert.match(error.message, new RegExp(`returned ${status}: `))
      assert.is(provider.received.length, 1)
    }
  })

  test(`${wire}: an error in the middle of the text is told, and not tried again`, async () => {
    const event = wire === 'anthropic' ? 'event: error\n' : ''
    const error = `${event}data: ${JSON.stringify(formatErrorBody(wire, 529, 'too many people'))}\n\n`
    const provider = await start(wire, (response) => {
      response
        .writeHead(200, { 'content-type': 'text/event-stream' })
        .end(formatEvents(wire, { text: ['Hel'], finish: null }).join('') + error)
    })
    const failed = await outcome(provider)
    assert.is(failed.error.code, 'PROVIDER_ERROR')
    assert.is(joinText(failed.parts), 'Hel')
    if (wire !== 'google') assert.match(failed.error.message, /too many people/)
    assert.is(provider.received.length, 1)
  })

  test(`${wire}: an abort ends the request at once, with its own reason`, async () => {
    for (const step of [hang, stallAfter('Hel')]) {
      const provider = await start(wire, step)
      const abort = new AbortController()
      const arrival = provider.nextRequest()
      const call = collectParts(asking.getModel(provider), { ...createRequest(), signal: abort.signal })
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

  test(`${wire}: whoever stops reading ends the request`, async () => {
    const provider = await start(wire, stallAfter('a', 'b', 'c'))
    for await (const part of asking.getModel(provider).stream(createRequest())) {
      assert.is(part.type, 'text')
      break
    }
    await provider.received[0]?.closed
  })
}

test('a provider overloaded before its first word is tried again, also when it says so inside the stream', async () => {
  const overloaded: Step = (response) =>
    response
      .writeHead(200, { 'content-type': 'text/event-stream' })
      .end(`event: error\ndata: ${JSON.stringify(formatErrorBody('anthropic', 529, 'Overloaded'))}\n\n`)
  assert.is(joinText(await collectParts(asking.getModel(await start('anthropic', overloaded, streamText('Now.'))))), 'Now.')
  assert.match((await outcome(await start('anthropic', overloaded))).error.message, /Overloaded/)
})

test('Retry-After is kept to, and a provider that asks for too much patience is not waited for', async () => {
  for (const headers of [{ 'retry-after': '0.15' }, { 'retry-after-ms': '150' }]) {
    const provider = await start('openai', respondWithError(429, undefined, headers), streamText('Now.'))
    const begun = performance.now()
    assert.is(joinText(await collectParts(asking.getModel(provider))), 'Now.')
    assert.ok(performance.now() - begun >= 145) // timers may be a moment early
  }
  const greedy = await start('openai', respondWithError(429, undefined, { 'retry-after': '3600' }))
  const { error } = await outcome(greedy)
  assert.match(error.hint ?? '', /try again in 3600 s/)
  assert.is(greedy.received.length, 1)
  const google = await start('google', respondWithError(429, { error: { code: 429, message: 'Quota', details: [{ retryDelay: '37s' }] } }))
  assert.match((await outcome(google)).error.hint ?? '', /try again in 37 s/)
  const spent = await start(
    'openai',
    respondWithError(429, { error: { message: 'You exceeded your current quota', code: 'insufficient_quota' } }),
  )
  await outcome(spent)
  assert.is(spent.received.length, 1)
})

test('the key is never told, in whatever spelling a provider repeats it', async () => {
  const spellings = [KEY, encodeURIComponent(KEY), JSON.stringify(`"${KEY}"`), Buffer.from(`:${KEY}`).toString('base64')]
  for (const spelling of spellings) {
    const provider = await start('openai', respondWithError(401, { error: { message: `Incorrect API key provided: ${spelling}. Bye.` } }))
    const { error } = await outcome(provider)
    assert.not(error.message.includes(spelling))
    assert.match(error.message, /Incorrect API key provided: .*\[redacted\]/)
    assert.match(error.hint ?? '', /Check the API key/)
  }
  const inside = await start('openai', sendBody(`data: {"error": {"message": "no ${KEY} here"}}\n\n`))
  assert.match((await outcome(inside)).error.message, /no \[redacted\] here/)
})

test('what a provider says is bounded, however much it is', async () => {
  const { error } = await outcome(await start('openai', respondWithError(400, 'x'.repeat(5_000_000))))
  assert.ok(error.message.length < 1_000)
})

test('a refusal is told as one, also where its words do not come whole', async () => {
  const begun = (response: ServerResponse) => response.writeHead(401, { 'content-length': '1000' })
  const cut = await outcome(
    await start('openai', (response) => begun(response).write('Bad key', () => setTimeout(() => response.destroy(), 20))),
  )
  assert.match(cut.error.message, /returned 401: Bad key/)
  const slow = await outcome(await start('openai', (response) => begun(response).flushHeaders()), createRequest(), {}, hasty.first)
  assert.match(slow.error.message, /returned 401\./)
})

test('a redirect is an error: the next server would get the key', async () => {
  const other = await start('openai', streamText('gotcha'))
  const provider = await start('openai', respondWithError(307, 'moved', { location: other.url }))
  assert.match((await outcome(provider)).error.message, /returned 307/)
  assert.is(other.received.length, 0)
})

test('nobody listening, no such host, and nobody at home are told apart', async () => {
  const gone = await start('openai', hang)
  const fields = { endpoint: gone.url }
  await gone.close()
  open.splice(0)
  const refusedOne = await outcome(gone, createRequest(), fields)
  assert.is(refusedOne.error.code, 'PROVIDER_ERROR')
  assert.match(refusedOne.error.hint ?? '', /Check that the server is running/)
  const nowhere = await outcome(gone, createRequest(), { endpoint: 'http://nowhere.invalid/v1' })
  assert.is(nowhere.error.code, 'PROVIDER_ERROR')
})

test('a name that leads inside is not connected to, unless an admin set it', async () => {
  const provider = await start('openai', streamText('inside'))
  const lying = new ProviderFixture({}, async () => [{ address: '127.0.0.1', family: 4 }])
  const named = { endpoint: `http://models.example.com:${provider.port}/v1` }
  for (const endpoint of [named.endpoint, provider.url, `http://localhost:${provider.port}/v1`]) {
    const { error } = await outcome(provider, createRequest(), { endpoint, allow_private: false }, lying)
    assert.is(error.code, 'ADDRESS_BLOCKED')
    assert.match(error.hint ?? '', /an admin must set its endpoint/)
  }
  assert.is(provider.received.length, 0)
  assert.is(joinText(await collectParts(lying.getModel(provider, named))), 'inside')
  await lying.close()
})

test('a connection that was kept too long is opened again without anybody noticing', async () => {
  const provider = await start('openai', streamText('one'), (response) => response.destroy(), streamText('two'))
  assert.is(joinText(await collectParts(asking.getModel(provider))), 'one')
  assert.is(joinText(await collectParts(asking.getModel(provider))), 'two')
})

test('a model that takes no tools says so once, and is not offered any again', async () => {
  const words = [
    [400, 'registry.ollama.ai/library/gemma:2b does not support tools'],
    [400, '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'],
    [500, 'tools param requires --jinja flag'],
  ] as const
  for (const [status, message] of words) {
    const provider = await start('openai', respondWithError(status, { error: { message } }), streamText('ok'))
    const model = asking.getModel(provider, { id: message })
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
