/** Following a reply over a real socket: typed events, terminal event, reconnects. */
import { createServer, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { ServiceError, UnreachableError } from '../../src/client/errors.ts'
import { type FollowOptions, followReply, parseReplyEvent, type ReplyRequest } from '../../src/client/follow-reply.ts'
import type { ReplyEvent } from '../../src/contract/reply-events.ts'
import { encodeComment, encodeEvent } from '../../src/sse.ts'

const test = suite('follow reply')

const START = { conversation_id: 'conv_1', message_id: 'msg_2', user_message_id: 'msg_1', model_id: 'model_1', agent_id: 'agent_1' }
const END = { message: { id: 'msg_2', role: 'assistant', content: 'Hello.', timestamp: '2026-01-31T09:30:00.000Z', finish_reason: 'stop' } }

const event = (name: string, data: unknown, id?: string) => encodeEvent({ event: name, data: JSON.stringify(data), ...(id ? { id } : {}) })

interface FollowCase {
  listener: RequestListener
  request?: ReplyRequest
  options?: FollowOptions
}

interface FollowResult {
  events: ReplyEvent[]
  error: Error | undefined
  requests: string[]
  lines: string[]
}

/** Follows a reply of a fake service to its end. */
async function follow({
  listener,
  request: replyRequest = { conversation: 'conv_1', message: 'Hi' },
  options,
}: FollowCase): Promise<FollowResult> {
  const result: FollowResult = { events: [], error: undefined, requests: [], lines: [] }
  const server = createServer((request, response) => {
    result.requests.push(`${request.method} ${request.url} ${request.headers['last-event-id'] ?? '-'}`)
    listener(request, response.setHeader('content-type', 'text/event-stream'))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const connection = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    token: 'secret',
    notify: (line: string) => void result.lines.push(line),
  }
  try {
    for await (const received of followReply(connection, replyRequest, options)) result.events.push(received)
  } catch (error) {
    result.error = error as Error
  } finally {
    server.closeAllConnections()
    server.close()
  }
  return result
}

/** Writes the text and then breaks the connection. */
function breakAfter(response: ServerResponse, text: string): void {
  response.write(text, () => response.destroy())
}

test('a server event is parsed to a typed event', () => {
  assert.equal(parseReplyEvent({ event: 'message_delta', data: '{"text":"Hi"}', id: '3' }), {
    event: 'message_delta',
    data: { text: 'Hi' },
    id: '3',
  })
})

test('an unknown event is skipped', () => {
  assert.is(parseReplyEvent({ event: 'applause', data: '{}' }), undefined)
  assert.is(parseReplyEvent({ event: 'toString', data: '{}' }), undefined)
})

test('event data that is not an object is reported as unreadable', () => {
  for (const data of ['{"text":', 'null', '3'])
    assert.throws(() => parseReplyEvent({ event: 'message_delta', data }), /unreadable event \(message_delta\)/)
})

test('events are yielded up to the terminal event', async () => {
  const { events, error } = await follow({
    listener: (_, response) =>
      void response.end(
        [
          event('message_start', START, '1'),
          encodeComment('still here'),
          event('later', {}),
          event('message_end', END, '2'),
          event('message_delta', {}),
        ].join(''),
      ),
  })
  assert.is(error, undefined)
  assert.equal(
    events.map(({ event: name, id }) => `${name} ${id}`),
    ['message_start 1', 'message_end 2'],
  )
})

test('a message is sent with stream, and with wait if requested', async () => {
  const bodies: unknown[] = []
  const listener: RequestListener = async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    bodies.push(JSON.parse(body))
    response.end(event('message_end', END))
  }
  await follow({ listener })
  await follow({ listener, request: { conversation: 'conv_1', message: 'Hi', wait: true } })
  assert.equal(bodies, [
    { message: 'Hi', stream: true },
    { message: 'Hi', stream: true, wait: true },
  ])
})

test('an error event is terminal and is yielded', async () => {
  const { events, error } = await follow({
    listener: (_, response) => void response.end(event('error', { error: 'The model is overloaded.', code: 'PROVIDER_ERROR' })),
  })
  assert.is(error, undefined)
  assert.equal(events, [{ event: 'error', data: { error: 'The model is overloaded.', code: 'PROVIDER_ERROR' } }])
})

test('a stream that ends or breaks without a terminal event throws', async () => {
  const text = event('message_start', START, '1')
  for (const finish of [(response: ServerResponse) => void response.end(text), (response: ServerResponse) => breakAfter(response, text)]) {
    const { events, error } = await follow({ listener: (_, response) => finish(response) })
    assert.is(events.length, 1)
    assert.instance(error, UnreachableError)
    assert.is(error?.message, 'The connection was lost before the reply was complete.')
    assert.match((error as UnreachableError).hint ?? '', 'cadre conversations show conv_1')
  }
})

test('an error response keeps its code', async () => {
  const { error } = await follow({
    listener: (_, response) => void response.writeHead(409).end('{"success":false,"error":"A reply is being written.","code":"CONFLICT"}'),
    options: { maxReconnects: 3 },
  })
  assert.instance(error, ServiceError)
  assert.is((error as ServiceError).code, 'CONFLICT')
})

test('a lost connection is resumed after the last event', async () => {
  const { events, error, requests, lines } = await follow({
    options: { maxReconnects: 1 },
    listener: (request, response) => {
      if (request.method === 'POST') breakAfter(response, event('message_start', START, '1') + event('message_delta', { text: 'Hel' }, '2'))
      else response.end(event('message_delta', { text: 'lo.' }, '3') + event('message_end', END, '4'))
    },
  })
  assert.is(error, undefined)
  assert.equal(requests, ['POST /api/conversations/conv_1/messages -', 'GET /api/conversations/conv_1/messages/msg_2/events 2'])
  assert.equal(
    events.map(({ id }) => id),
    ['1', '2', '3', '4'],
  )
  assert.is(lines.length, 1)
})

test('the text of a reply that ended before it was resumed is complete', async () => {
  const end = event('message_end', { message: { ...END.message, content: 'Hello.' } }, '3')
  const start = event('message_start', START, '1') + event('message_delta', { text: 'Hel' }, '2')
  const listener: RequestListener = (request, response) => (request.method === 'POST' ? breakAfter(response, start) : response.end(end))
  const { events } = await follow({ options: { maxReconnects: 1 }, listener })
  assert.equal(events.map(({ event, data }) => [event, (data as { text?: string }).text]).slice(1), [
    ['message_delta', 'Hel'],
    ['message_delta', 'lo.'],
    ['message_end', undefined],
  ])
  let isFirst = true
  const request = { conversation: 'conv_1', reply: 'msg_2', after: '2' }
  const resumed = await follow({
    options: { maxReconnects: 1 },
    request,
    listener: (_, response) => {
      if (isFirst) breakAfter(response, encodeComment('still here'))
      else response.end(end)
      isFirst = false
    },
  })
  assert.equal(
    resumed.events.map(({ event }) => event),
    ['message_end'],
  )
})

test('a message is not sent twice: without a reply id a lost connection throws', async () => {
  const { error, requests } = await follow({
    options: { maxReconnects: 3 },
    listener: (_, response) => breakAfter(response, ': nothing yet\n\n'),
  })
  assert.instance(error, UnreachableError)
  assert.equal(requests, ['POST /api/conversations/conv_1/messages -'])
})

test('the number of reconnects is limited', async () => {
  const { error, requests } = await follow({
    options: { maxReconnects: 2 },
    request: { conversation: 'conv_1', reply: 'msg_2', after: '7' },
    listener: (_, response) => breakAfter(response, encodeComment('still here')),
  })
  assert.instance(error, UnreachableError)
  assert.equal(requests, Array(3).fill('GET /api/conversations/conv_1/messages/msg_2/events 7'))
})

test('a stream without data times out', async () => {
  const { events, error } = await follow({
    options: { idleTimeoutMs: 50 },
    listener: (_, response) => void response.write(event('message_start', START, '1')),
  })
  assert.is(events.length, 1)
  assert.match(String(error?.cause), 'No data from')
})

test('an abort throws an AbortError without a reconnect', async () => {
  const abort = new AbortController()
  const { error, requests } = await follow({
    options: { maxReconnects: 3, signal: abort.signal },
    listener: (_, response) => void response.write(event('message_start', START, '1'), () => abort.abort()),
  })
  assert.is(error?.name, 'AbortError')
  assert.is(requests.length, 1)
})

test.run()
