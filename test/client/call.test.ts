/** Calls over a real socket: addresses, errors, rate limits and silence. */
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { listResults } from '../../src/cli/evaluations/follow-run.ts'
import { buildPath, call, paginate, stream } from '../../src/client/call.ts'
import { ServiceError, UnreachableError } from '../../src/client/errors.ts'
import type { Connection } from '../../src/client/request.ts'
import { agentRoutes } from '../../src/contract/families/agents.ts'
import { conversationRoutes } from '../../src/contract/families/conversations.ts'

const test = suite('client')

async function serving<T>(answer: RequestListener, work: (connection: Connection, said: string[]) => Promise<T>): Promise<T> {
  const server = createServer(answer)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const said: string[] = []
  try {
    return await work(
      { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, token: 'secret', notify: (line) => said.push(line) },
      said,
    )
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

async function failureOf(work: Promise<unknown>): Promise<Error> {
  try {
    await work
  } catch (error) {
    return error as Error
  }
  throw new Error('it did not fail')
}

test('parameters and queries are escaped, and what is undefined is left out', () => {
  const address = buildPath(agentRoutes.get, { params: { id: 'a/b?c' }, query: { name: 'x & y', page: undefined } })
  assert.is(address, '/api/agents/a%2Fb%3Fc?name=x+%26+y')
})

test('a call sends method, token and JSON, and gets the whole answer', async () => {
  let seen = ''
  const listener: RequestListener = async (request, response) => {
    let body = ''
    for await (const piece of request) body += piece
    seen = `${request.method} ${request.url} ${request.headers.authorization} ${request.headers['content-type']} ${body}`
    response.writeHead(201, { 'content-type': 'application/json' }).end('{"success":true,"data":{"id":"agent_1","name":"Zoë"}}')
  }
  const answer = await serving(listener, (connection) => call(connection, agentRoutes.create, { body: { name: 'Zoë' } }))
  assert.is(seen, 'POST /api/agents Bearer secret application/json {"name":"Zoë"}')
  assert.is(answer.data.name, 'Zoë')
})

test('an error of the service keeps its code, hint, details and request', async () => {
  const body = {
    success: false,
    error: 'name: is required',
    code: 'VALIDATION_ERROR',
    hint: 'Give it one.',
    details: [{ field: 'name', problem: 'is required' }],
    request_id: 'req_1',
  }
  const error = (await serving(
    (_, response) => response.writeHead(400).end(JSON.stringify(body)),
    (connection) => failureOf(call(connection, agentRoutes.get, { params: { id: 'x' } })),
  )) as ServiceError
  assert.instance(error, ServiceError)
  assert.equal(
    [error.code, error.message, error.hint, error.details, error.requestId, error.status],
    [body.code, body.error, body.hint, body.details, 'req_1', 400],
  )
})

test('an answer that is not ours is told by its status', async () => {
  const error = (await serving(
    (_, response) => response.writeHead(502).end('<html>Bad gateway</html>'),
    (connection) => failureOf(call(connection, agentRoutes.list, {})),
  )) as ServiceError
  assert.is(error.status, 502)
  assert.match(error.message, '502')
})

test('a page that says 200 but is not JSON is an error', async () => {
  const error = await serving(
    (_, response) => response.end('<html>Welcome to the hotel</html>'),
    (connection) => failureOf(call(connection, agentRoutes.list, {})),
  )
  assert.instance(error, ServiceError)
})

test('a rate limit is waited out, and said', async () => {
  let asked = 0
  const listener: RequestListener = (_, response) => {
    asked++
    if (asked < 3) response.writeHead(429, { 'retry-after': '0' }).end('{"success":false,"error":"slow down","code":"RATE_LIMITED"}')
    else response.end('{"success":true,"data":[],"pagination":{"page":1,"limit":20,"total":0,"pages":0}}')
  }
  await serving(listener, async (connection, said) => {
    assert.equal((await call(connection, agentRoutes.list, {})).data, [])
    assert.is(said.length, 2)
    assert.match(said[0] ?? '', 'rate limit')
  })
  assert.is(asked, 3)
})

test('ten thousand results are read in a few pages, past a rate limit in the middle of them', async () => {
  const asked: string[] = []
  const listener: RequestListener = (request, response) => {
    const { searchParams } = new URL(request.url ?? '', 'http://localhost')
    asked.push(`${searchParams.get('page')} of ${searchParams.get('limit')}`)
    if (asked.length === 5)
      return response.writeHead(429, { 'retry-after': '0' }).end('{"success":false,"error":"slow down","code":"RATE_LIMITED"}')
    const page = Number(searchParams.get('page'))
    const results = Array.from({ length: 1_000 }, (_, at) => ({ position: (page - 1) * 1_000 + at }))
    response.end(JSON.stringify({ success: true, data: { results, pagination: { page, limit: 1_000, total: 10_000, pages: 10 } } }))
  }
  const results = await serving(listener, (connection) => listResults(connection, 'eval_1', 'run_1'))
  assert.equal([results.length, results.at(-1)?.position], [10_000, 9_999])
  assert.equal(asked.slice(3, 6), ['4 of 1000', '5 of 1000', '5 of 1000'])
  assert.is(asked.length, 11)
})

test('a rate limit that does not end is an error', async () => {
  let asked = 0
  const error = (await serving(
    (_, response) => {
      asked++
      response.writeHead(429, { 'retry-after': '0' }).end('{"success":false,"error":"slow down","code":"RATE_LIMITED"}')
    },
    (connection) => failureOf(call(connection, agentRoutes.list, {})),
  )) as ServiceError
  assert.is(error.code, 'RATE_LIMITED')
  assert.is(asked, 4)
})

test('nobody at the address is told apart from an error', async () => {
  const url = await serving(
    () => undefined,
    async (connection) => connection.url,
  )
  const error = await failureOf(call({ url, token: undefined, notify: () => undefined }, agentRoutes.list, {}))
  assert.instance(error, UnreachableError)
  assert.match(error.message, url)
})

test('a stream gives its events as they come, and an error before the first as an error', async () => {
  const listener: RequestListener = (request, response) => {
    if (request.headers.accept !== 'text/event-stream') response.writeHead(500).end()
    else response.end('event: message_start\ndata: {}\n\nevent: message_end\ndata: {"message":1}\n\n')
  }
  const input = { params: { id: 'c' }, body: { message: 'hello', stream: true } }
  const events = await serving(listener, async (connection) => {
    const found = []
    for await (const { event } of stream(connection, conversationRoutes.send, input)) found.push(event)
    return found
  })
  assert.equal(events, ['message_start', 'message_end'])
  const error = await serving(
    (_, response) => response.writeHead(404).end('{"success":false,"error":"gone","code":"NOT_FOUND"}'),
    (connection) => failureOf(stream(connection, conversationRoutes.send, input).next()),
  )
  assert.is((error as ServiceError).code, 'NOT_FOUND')
})

test('pages go on until the last', async () => {
  const asked: number[] = []
  const read = async (page: number) => {
    asked.push(page)
    return { data: [page], pagination: { page, limit: 1, total: 3, pages: 3 } }
  }
  const found = []
  for await (const { data } of paginate(read)) found.push(...data)
  assert.equal(
    [found, asked],
    [
      [1, 2, 3],
      [1, 2, 3],
    ],
  )
})

test.run()
