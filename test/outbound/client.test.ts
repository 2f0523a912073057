import type { ServerResponse } from 'node:http'
import { createServer } from 'node:net'
import { brotliCompressSync, createGzip, deflateSync, gzipSync } from 'node:zlib'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { createOutbound, type Outbound } from '../../daemon/outbound/client.ts'
import { resolveAllowedAddresses } from '../../daemon/outbound/guarded-connector.ts'
import { createFirstHop, createNextHop } from '../../daemon/outbound/redirects.ts'
import { CadreError } from '../../src/contract/errors.ts'
import { type RecordingServer, startRecordingServer } from './recording-server.ts'

const test = suite<{ server: RecordingServer; other: RecordingServer; outbound: Outbound }>('outbound client')

/** Resolves every name to this machine; zero.test to an address that stays blocked when private addresses are allowed. */
const resolve = async (host: string) => [{ address: host === 'zero.test' ? '0.0.0.0' : '127.0.0.1', family: 4 }]

test.before.each(async (context) => {
  context.server = await startRecordingServer()
  context.other = await startRecordingServer()
  context.outbound = createOutbound({ resolve })
})
test.after.each(async ({ server, other, outbound }) => {
  await outbound.close()
  await server.close()
  await other.close()
})

const ALLOW_PRIVATE = { allowPrivateNetwork: true }
const readText = ({ body }: { body: Uint8Array }) => Buffer.from(body).toString('utf8')
const redirect = (reply: ServerResponse, location: string, status = 302) => reply.writeHead(status, { location }).end('moved')

async function catchError(work: Promise<unknown>): Promise<CadreError> {
  try {
    await work
  } catch (error) {
    assert.instance(error, CadreError)
    return error as CadreError
  }
  throw new Error('the call did not fail')
}

test('a request sends method, headers and body and returns status, headers and body', async ({ server, outbound }) => {
  server.listener = (_, reply) => reply.writeHead(418, { 'X-Tea': ['green', 'black'], 'content-type': 'text/plain' }).end('short and stout')
  const answer = await outbound.request(`${server.origin}/pot?size=1#part`, {
    ...ALLOW_PRIVATE,
    method: 'post',
    headers: { 'X-Key': 'k', 'Content-Type': 'application/json' },
    body: '{"a":"ü"}',
  })
  assert.is(answer.status, 418)
  assert.is(answer.headers['x-tea'], 'green, black')
  assert.is(readText(answer), 'short and stout')
  assert.is(answer.truncated, false)
  assert.is(answer.url, `${server.origin}/pot?size=1`)
  const [request] = server.requests
  assert.equal([request?.method, request?.url, request?.body, request?.headers['x-key']], ['POST', '/pot?size=1', '{"a":"ü"}', 'k'])
})

test('connection headers cannot be set, and header values cannot contain line breaks', async ({ server, outbound }) => {
  for (const name of ['Host', 'Content-Length', 'Transfer-Encoding', 'Connection'])
    assert.is(
      (await catchError(outbound.request(server.origin, { ...ALLOW_PRIVATE, headers: { [name]: '1' } }))).code,
      'VALIDATION_ERROR',
      name,
    )
  assert.is(
    (await catchError(outbound.request(server.origin, { ...ALLOW_PRIVATE, headers: { 'x-a': 'b\r\nx-c: d' } }))).code,
    'VALIDATION_ERROR',
  )
  assert.is(server.requests.length, 0)
})

test('redirects are followed, and POST becomes GET as in browsers', async ({ server, outbound }) => {
  server.listener = (request, reply) => {
    if (request.url === '/307') redirect(reply, '/end', 307)
    else if (request.url === '/303') redirect(reply, '/end', 303)
    else reply.end('here')
  }
  const answer = await outbound.request(`${server.origin}/303`, {
    ...ALLOW_PRIVATE,
    method: 'POST',
    body: 'x',
    headers: { 'content-type': 'text/plain' },
  })
  assert.equal([answer.url, readText(answer)], [`${server.origin}/end`, 'here'])
  await outbound.request(`${server.origin}/307`, { ...ALLOW_PRIVATE, method: 'POST', body: 'x' })
  assert.equal(
    server.requests.map(({ method, body }) => method + body),
    ['POSTx', 'GET', 'POSTx', 'POSTx'],
  )
  assert.is(server.requests[1]?.headers['content-type'], undefined)
})

test('with maxRedirects 0 the redirect itself is returned', async ({ server, outbound }) => {
  server.listener = (_, reply) => redirect(reply, '/next')
  const answer = await outbound.request(server.origin, { ...ALLOW_PRIVATE, maxRedirects: 0 })
  assert.equal([answer.status, answer.headers.location, readText(answer)], [302, '/next', 'moved'])
})

test('a redirect loop ends with an error', async ({ server, outbound }) => {
  server.listener = (_, reply) => redirect(reply, '/again')
  assert.match((await catchError(outbound.request(server.origin, ALLOW_PRIVATE))).message, 'redirects more than 5 times')
  assert.is(server.requests.length, 6)
})

test('secret headers are not sent to another origin', async ({ server, other, outbound }) => {
  server.listener = (_, reply) => redirect(reply, `${other.origin}/caught`)
  const headers = { Authorization: 'Bearer s', Cookie: 's', 'X-Api-Key': 's', Accept: 'text/html' }
  await outbound.request(server.origin, { ...ALLOW_PRIVATE, headers })
  const sent = other.requests[0]?.headers ?? {}
  assert.equal([sent.authorization, sent.cookie, sent['x-api-key'], sent.accept], [undefined, undefined, undefined, 'text/html'])
  server.listener = (request, reply) => (request.url === '/same' ? reply.end() : redirect(reply, '/same'))
  await outbound.request(`${server.origin}/`, { ...ALLOW_PRIVATE, headers })
  assert.is(server.requests.at(-1)?.headers['x-api-key'], 's')
})

test('a redirect to a blocked address never connects', async ({ server, other, outbound }) => {
  // Addresses of this machine that stay blocked when private addresses are allowed: without the guard each would reach the server.
  const closed = ['0.0.0.0', '0', '[::]', '0x0', 'zero.test'].map((host) => `http://${host}:${other.port}/`)
  const elsewhere = ['file:///etc/passwd', 'ftp://example.test/', `http://u:p@127.0.0.1:${other.port}/`, 'javascript:1']
  for (const location of [...closed, ...elsewhere]) {
    for (const status of [301, 302, 303, 307, 308]) {
      server.listener = (_, reply) => redirect(reply, location, status)
      assert.is((await catchError(outbound.request(server.origin, ALLOW_PRIVATE))).code, 'ADDRESS_BLOCKED', location)
    }
  }
  assert.is(other.connections, 0)
})

test('a redirect to a private address is blocked unless allowed', async ({ server, other }) => {
  for (const host of ['127.0.0.1', 'localhost', 'inner.test', '[::ffff:127.0.0.1]', '2130706433']) {
    const next = createNextHop(createFirstHop('http://public.test/', {}), 302, `http://${host}:${other.port}/`)
    assert.is((await catchError(resolveAllowedAddresses(resolve, next?.url.hostname ?? '', false))).code, 'ADDRESS_BLOCKED', host)
  }
  assert.is(server.connections + other.connections, 0)
})

test('a body is truncated at the limit', async ({ server, outbound }) => {
  server.listener = (_, reply) => reply.end('x'.repeat(100_000))
  const cut = await outbound.request(server.origin, { ...ALLOW_PRIVATE, maxBytes: 1_000 })
  assert.equal([cut.body.length, cut.truncated], [1_000, true])
  const whole = await outbound.request(server.origin, { ...ALLOW_PRIVATE, maxBytes: 100_000 })
  assert.equal([whole.body.length, whole.truncated], [100_000, false])
})

test('an endless body is truncated at the limit and its connection closed', async ({ server, outbound }) => {
  let closed: Promise<void> | undefined
  server.listener = (_, reply) => {
    closed = new Promise((resolve) => reply.once('close', resolve))
    const more = () => {
      while (!reply.destroyed && reply.write('x'.repeat(65_536)));
      reply.once('drain', more)
    }
    more()
  }
  const answer = await outbound.request(server.origin, { ...ALLOW_PRIVATE, maxBytes: 200_000 })
  assert.equal([answer.body.length, answer.truncated], [200_000, true])
  await closed
})

test('compressed bodies are decompressed up to the limit', async ({ server, outbound }) => {
  const packed = {
    gzip: gzipSync('plain'),
    br: brotliCompressSync('plain'),
    deflate: deflateSync('plain'),
    'gzip, gzip': gzipSync(gzipSync('plain')),
  }
  for (const [encoding, bytes] of Object.entries(packed)) {
    server.listener = (_, reply) => reply.writeHead(200, { 'content-encoding': encoding }).end(bytes)
    assert.is(readText(await outbound.request(server.origin, ALLOW_PRIVATE)), 'plain', encoding)
  }
  server.listener = (_, reply) => {
    reply.writeHead(200, { 'content-encoding': 'gzip' })
    const gzip = createGzip({ level: 9 })
    gzip.pipe(reply)
    const zeros = Buffer.alloc(1024 * 1024)
    const more = () => {
      while (!reply.destroyed && gzip.write(zeros));
      if (!reply.destroyed) gzip.once('drain', more)
    }
    more()
  }
  const before = process.memoryUsage().rss
  const bomb = await outbound.request(server.origin, { ...ALLOW_PRIVATE, maxBytes: 1024 * 1024 })
  assert.equal([bomb.body.length, bomb.truncated], [1024 * 1024, true])
  assert.ok(process.memoryUsage().rss - before < 150 * 1024 * 1024)
})

test('nested, unknown or corrupt compression is an error', async ({ server, outbound }) => {
  for (const encoding of ['gzip, gzip, gzip', 'zstd', 'gzip']) {
    server.listener = (_, reply) => reply.writeHead(200, { 'content-encoding': encoding }).end('not compressed')
    assert.is((await catchError(outbound.request(server.origin, ALLOW_PRIVATE))).code, 'PROVIDER_ERROR', encoding)
  }
})

test('a response without a body may have a Content-Encoding header', async ({ server, outbound }) => {
  server.listener = (request, reply) => reply.writeHead(request.url === '/204' ? 204 : 200, { 'content-encoding': 'gzip' }).end()
  assert.is((await outbound.request(`${server.origin}/204`, ALLOW_PRIVATE)).body.length, 0)
  assert.is((await outbound.request(server.origin, { ...ALLOW_PRIVATE, method: 'HEAD' })).body.length, 0)
})

test('the timeout covers a silent server, a slow body and slow redirects', async ({ server, outbound }) => {
  const drips = new Set<NodeJS.Timeout>()
  const answers: ((reply: ServerResponse) => void)[] = [
    () => {},
    (reply) => {
      reply.write('begun')
      drips.add(setInterval(() => reply.write('.'), 20))
    },
    (reply) => drips.add(setTimeout(() => redirect(reply, '/on'), 80)),
  ]
  for (const answer of answers) {
    server.listener = (_, reply) => answer(reply)
    assert.is((await catchError(outbound.request(server.origin, { ...ALLOW_PRIVATE, timeoutMs: 200 }))).code, 'PROVIDER_TIMEOUT')
  }
  for (const drip of drips) clearInterval(drip)
})

test("an aborted request rejects with the caller's reason", async ({ server, outbound }) => {
  const ending = new AbortController()
  server.listener = () => ending.abort(new Error('changed my mind'))
  try {
    await outbound.request(server.origin, { ...ALLOW_PRIVATE, signal: ending.signal })
    assert.unreachable()
  } catch (error) {
    assert.is((error as Error).message, 'changed my mind')
  }
})

test('a body is not read if shouldReadBody returns false', async ({ server, outbound }) => {
  server.listener = (_, reply) => reply.writeHead(200, { 'content-type': 'video/mp4' }).end('x'.repeat(1_000_000))
  const answer = await outbound.request(server.origin, {
    ...ALLOW_PRIVATE,
    shouldReadBody: (_, headers) => headers['content-type'] === 'text/html',
  })
  assert.equal([answer.status, answer.body.length, answer.truncated], [200, 0, true])
})

test('errors name the host and never the query', async ({ outbound }) => {
  const refusing = await catchError(outbound.request('http://127.0.0.1:9/?key=secret', ALLOW_PRIVATE))
  assert.is(refusing.code, 'PROVIDER_ERROR')
  assert.match(refusing.message, '127.0.0.1:9 refused the connection')
  const nowhere = createOutbound({
    resolve: async (host) => Promise.reject(Object.assign(new Error(`getaddrinfo ENOTFOUND ${host}`), { code: 'ENOTFOUND' })),
  })
  assert.match((await catchError(nowhere.request('http://nowhere.test/?key=secret'))).message, 'Host not found: nowhere.test')
  const garbage = createServer((socket) => socket.on('error', () => socket.destroy()).end('garbage\r\n\r\n'))
  await new Promise<void>((resolve) => garbage.listen(0, '127.0.0.1', resolve))
  const { port } = garbage.address() as { port: number }
  const error = await catchError(outbound.request(`http://127.0.0.1:${port}/?key=secret`, ALLOW_PRIVATE))
  assert.is(error.code, 'PROVIDER_ERROR')
  assert.not.match(error.message, 'secret')
  garbage.close()
})

test.run()
