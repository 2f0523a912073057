import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { UnreachableError } from '../../src/client/errors.ts'
import { followCompletion } from '../../src/client/follow-completion.ts'
import { CadreError } from '../../src/contract/errors.ts'
import { parseOpenaiError } from '../../src/contract/openai/errors.ts'
import type { ReplyEvent } from '../../src/contract/reply-events.ts'

const test = suite('following a completion')

/** Sends a prompt to a server with one response, and collects the events until the end or an error. */
async function follow(respond: (response: ServerResponse) => void): Promise<{ events: ReplyEvent[]; error: unknown }> {
  const server = createServer(
    (request, response) => void request.resume().on('end', () => respond(response.setHeader('content-type', 'text/event-stream'))),
  ).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const events: ReplyEvent[] = []
  const request = { model: 'model_1', system: undefined, message: 'Hi', images: [] }
  try {
    for await (const event of followCompletion({ url, token: 'x', notify() {} }, request)) events.push(event)
    return { events, error: undefined }
  } catch (error) {
    return { events, error }
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

const chunk = (content: string) =>
  `data: ${JSON.stringify({ id: 'chatcmpl-1', choices: [{ delta: { content }, finish_reason: null }] })}\n\n`

test('a connection that ends before the reply is reported, and what arrived is yielded', async () => {
  for (const end of [(response: ServerResponse) => response.end(), (response: ServerResponse) => response.destroy()]) {
    const { events, error } = await follow((response) => {
      response.write(chunk('Hel'), () => setImmediate(() => end(response)))
    })
    assert.equal(
      events.map(({ event }) => event),
      ['message_start', 'message_delta'],
    )
    assert.instance(error, UnreachableError)
    assert.match((error as Error).message, 'connection was lost')
  }
})

test('an error in the stream ends it', async () => {
  const { events } = await follow((response) =>
    response.end(
      `${chunk('Hel')}event: error\ndata: {"error":{"message":"It broke.","type":"server_error","param":null,"code":"provider_error"}}\n\n`,
    ),
  )
  assert.equal(events.at(-1), { event: 'error', data: { error: 'It broke.', code: 'PROVIDER_ERROR' } })
})

test("an error in OpenAI's format before the stream is thrown with its code", async () => {
  const { error } = await follow((response) => {
    response.writeHead(429)
    response.end('{"error":{"message":"The budget is spent.","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}')
  })
  assert.instance(error, CadreError)
  assert.equal([(error as CadreError).code, (error as CadreError).message], ['BUDGET_EXCEEDED', 'The budget is spent.'])
})

test("errors in OpenAI's format have the code of Cadre, and other bodies are no errors", () => {
  const read = (error: object) => parseOpenaiError({ error: { message: 'x', ...error } })?.code
  assert.is(read({ type: 'invalid_request_error', code: 'model_not_found' }), 'NOT_FOUND')
  assert.is(read({ type: 'invalid_request_error', code: null }), 'VALIDATION_ERROR')
  assert.is(read({ type: 'invalid_request_error', code: 'context_length_exceeded' }), 'VALIDATION_ERROR')
  assert.is(read({ type: 'server_error', code: 'of another server' }), 'INTERNAL')
  for (const body of [undefined, null, 'text', 7, {}, { error: 'text' }, { error: null }, { error: {} }])
    assert.is(parseOpenaiError(body), undefined)
})

test.run()
