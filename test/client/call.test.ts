/** Calls over a real socket: paths, errors, rate limits and pagination. */
import { createServer, get, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { listResults } from '../../src/cli/evaluations/follow-run.ts'
import { buildPath, call, stream } from '../../src/client/call.ts'
import { ServiceError, UnreachableError } from '../../src/client/errors.ts'
import { type BodyLimits, type Connection, readText } from '../../src/client/request.ts'
import { agentRoutes } from '../../src/contract/families/agents.ts'
import { conversationRoutes } from '../../src/contract/families/conversations.ts'
import { EventDecoder } from '../../src/sse.ts'

const test = suite('client')

async function withServer<T>(listener: RequestListener, work: (connection: Connection, lines: string[]) => Promise<T>): Promise<T> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const lines: string[] = []
  try {
    return await work(
      { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, token: 'secret', notify: (line) => lines.push(line) },
      lines,
    )
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

async function catchError(work: Promise<unknown>): Promise<Error> {
  try {
    await work
  } catch (error) {
    return error as Error
  }
  throw new Error('The call did not fail.')
}

test('a path has escaped parameters and no undefined query values', () => {
  const address = buildPath(agentRoutes.get, { params: { id: 'a/b?c' }, query: { name: 'x & y', page: undefined } })
  assert.is(address, '/api/agents/a%2Fb%3Fc?name=x+%26+y')
})

test('a call sends method, token and JSON and returns the response body', async () => {
  let received = ''
  const listener: RequestListener = async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    received = `${request.method} ${request.url} ${request.headers.authorization} ${request.headers['content-type']} ${body}`
    response.writeHead(201, { 'content-type': 'application/json' }).end('{"success":true,"data":{"id":"agent_1","name":"Zoë"}}')
  }
  const answer = await withServer(listener, (connection) => call(connection, agentRoutes.create, { body: { name: 'Zoë' } }))
  assert.is(received, 'POST /api/agents Bearer secret application/json {"name":"Zoë"}')
  assert.is(answer.data.name, 'Zoë')
})

test('an error response keeps its code, hint, details and request id', async () => {
  const body = {
    success: false,
    error: 'name: is required',
    code: 'VALIDATION_ERROR',
    hint: 'Give it one.',
    details: [{ field: 'name', problem: 'is required' }],
    request_id: 'req_1',
  }
  const error = (await withServer(
    (_, response) => response.writeHead(400).end(JSON.stringify(body)),
    (connection) => catchError(call(connection, agentRoutes.get, { params: { id: 'x' } })),
  )) as ServiceError
  assert.instance(error, ServiceError)
  assert.equal(
    [error.code, error.message, error.hint, error.details, error.requestId, error.status],
    [body.code, body.error, body.hint, body.details, 'req_1', 400],
  )
})

test('an error response that is not JSON is reported by its status', async () => {
  const error = (await withServer(
    (_, response) => response.writeHead(502).end('<html>Bad gateway</html>'),
    (connection) => catchError(call(connection, agentRoutes.list, {})),
  )) as ServiceError
  assert.is(error.status, 502)
  assert.match(error.message, '502')
})

test('a successful response that is not JSON is an error', async () => {
  const error = await withServer(
    (_, response) => response.end('<html>Welcome to the hotel</html>'),
    (connection) => catchError(call(connection, agentRoutes.list, {})),
  )
  assert.instance(error, ServiceError)
})

test('a call waits out a 429 and shows the reason and the hint of the service', async () => {
  let requests = 0
  const body = { success: false, code: 'RATE_LIMITED', error: 'Too many responses are unread.', hint: 'Read them first.' }
  const listener: RequestListener = (_, response) => {
    requests++
    if (requests < 3) response.writeHead(429, { 'retry-after': '0' }).end(JSON.stringify(body))
    else response.end('{"success":true,"data":[],"pagination":{"page":1,"limit":20,"total":0,"pages":0}}')
  }
  await withServer(listener, async (connection, lines) => {
    assert.equal((await call(connection, agentRoutes.list, {})).data, [])
    assert.equal(lines, Array(2).fill('Too many responses are unread. Read them first. Retrying in 0 s.'))
  })
  assert.is(requests, 3)
})

test('waiting is announced even if other notices are muted', async () => {
  let requests = 0
  const listener: RequestListener = (_, response) => {
    requests++
    if (requests === 1) response.writeHead(429, { 'retry-after': '0' }).end('{"success":false,"error":"Slow down.","code":"RATE_LIMITED"}')
    else response.end('{"success":true,"data":[],"pagination":{"page":1,"limit":20,"total":0,"pages":0}}')
  }
  const announced: string[] = []
  await withServer(listener, async (connection, lines) => {
    await call({ ...connection, announceWait: (line) => announced.push(line) }, agentRoutes.list, {})
    assert.equal(lines, [])
  })
  assert.equal(announced, ['Slow down. Retrying in 0 s.'])
})

test('10,000 results of a run are read in 10 pages despite a rate limit', async () => {
  const requested: string[] = []
  const listener: RequestListener = (request, response) => {
    const { searchParams } = new URL(request.url ?? '', 'http://localhost')
    requested.push(`${searchParams.get('page')} of ${searchParams.get('limit')}`)
    if (requested.length === 5)
      return response.writeHead(429, { 'retry-after': '0' }).end('{"success":false,"error":"slow down","code":"RATE_LIMITED"}')
    const page = Number(searchParams.get('page'))
    const results = Array.from({ length: 1_000 }, (_, index) => ({ position: (page - 1) * 1_000 + index }))
    response.end(JSON.stringify({ success: true, data: { results, pagination: { page, limit: 1_000, total: 10_000, pages: 10 } } }))
  }
  const results = await withServer(listener, (connection) => listResults(connection, 'eval_1', 'run_1'))
  assert.equal([results.length, results.at(-1)?.position], [10_000, 9_999])
  assert.equal(requested.slice(3, 6), ['4 of 1000', '5 of 1000', '5 of 1000'])
  assert.is(requested.length, 11)
})

test('a rate limit is an error after 4 attempts', async () => {
  let requests = 0
  const error = (await withServer(
    (_, response) => {
      requests++
      response.writeHead(429, { 'retry-after': '0' }).end('{"success":false,"error":"slow down","code":"RATE_LIMITED"}')
    },
    (connection) => catchError(call(connection, agentRoutes.list, {})),
  )) as ServiceError
  assert.is(error.code, 'RATE_LIMITED')
  assert.is(requests, 4)
})

test('a refused connection is an UnreachableError that names the URL', async () => {
  const url = await withServer(
    () => undefined,
    async (connection) => connection.url,
  )
  const error = await catchError(call({ url, token: undefined, notify: () => undefined }, agentRoutes.list, {}))
  assert.instance(error, UnreachableError)
  assert.match(error.message, url)
})

test('a stream yields its events and throws an error response', async () => {
  const listener: RequestListener = (request, response) => {
    if (request.headers.accept !== 'text/event-stream') response.writeHead(500).end()
    else
      response
        .setHeader('content-type', 'text/event-stream')
        .end('event: message_start\ndata: {}\n\nevent: message_end\ndata: {"message":1}\n\n')
  }
  const input = { params: { id: 'c' }, body: { message: 'hello', stream: true } }
  const events = await withServer(listener, async (connection) => {
    const names = []
    for await (const { event } of stream(connection, conversationRoutes.send, input)) names.push(event)
    return names
  })
  assert.equal(events, ['message_start', 'message_end'])
  const error = await withServer(
    (_, response) => response.writeHead(404).end('{"success":false,"error":"gone","code":"NOT_FOUND"}'),
    (connection) => catchError(stream(connection, conversationRoutes.send, input).next()),
  )
  assert.is((error as ServiceError).code, 'NOT_FOUND')
})

test('a response that does not begin, a stream that falls silent and one without events are errors', async () => {
  const input = { params: { id: 'c' }, body: { message: 'hello', stream: true } }
  const readFirst = (listener: RequestListener) =>
    withServer(listener, (connection) =>
      catchError(stream(connection, conversationRoutes.send, input, { responseTimeoutMs: 50, idleTimeoutMs: 50 }).next()),
    )
  const missing = await readFirst(() => {})
  assert.instance(missing, UnreachableError)
  assert.match(missing.message, /^The response of http:.* did not begin within 0.05 seconds\.$/)
  const silent = await readFirst((_, response) => response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders())
  assert.match(silent.message, /^No data from http:.* for 0.05 seconds\.$/)
  const another = await readFirst((_, response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{}'))
  assert.instance(another, ServiceError)
})

/** Reads the body of a response that the listener sends, with small limits. */
const readLimited = (listener: RequestListener, limits: Partial<BodyLimits>): Promise<Error> =>
  withServer(listener, ({ url }) =>
    catchError(
      new Promise((resolve, reject) => {
        get(url, (message) => {
          readText(message, url, { maxBytes: 1_000_000, idleMs: 60_000, bytesPerSecond: 1, ...limits }).then(resolve, reject)
        }).on('error', reject)
      }),
    ),
  )

/** Writes the part again and again until the client has left. */
const writeWithoutEnd =
  (part: string, intervalMs: number): RequestListener =>
  (_, response) => {
    const timer = setInterval(() => response.write(part), intervalMs)
    response.on('close', () => clearInterval(timer))
  }

test('a response without an end is refused, whether it is large, slow or silent', async () => {
  const large = await readLimited(writeWithoutEnd('x'.repeat(100_000), 1), {})
  assert.instance(large, UnreachableError)
  assert.match(large.message, /^The response of http:.* is larger than 0 MB\.$/)
  const slow = await readLimited(writeWithoutEnd(' ', 1), { idleMs: 50, bytesPerSecond: 1_000_000 })
  assert.match(slow.message, 'is slower than 1000000 bytes per second')
  const silent = await readLimited((_, response) => response.write('{'), { idleMs: 50 })
  assert.match(silent.message, 'stopped: no data for 0.05 seconds')
})

test('an event without an end is refused', () => {
  const decoder = new EventDecoder()
  const part = 'x'.repeat(16 * 1024 * 1024)
  decoder.push('data: ')
  assert.throws(() => {
    for (let pieces = 0; pieces < 5; pieces++) decoder.push(part)
  }, 'An event of the stream is larger than 64 MB.')
})

test.run()
