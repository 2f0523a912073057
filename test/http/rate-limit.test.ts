import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { RateLimiter } from '../../daemon/http/rate-limiter.ts'
import { expectError } from '../harness/expect.ts'
import { reportFailure } from '../harness/hooks.ts'
import { TestServer } from '../harness/test-server.ts'

const LIMIT = 8
const test = suite('rate limit')
let server: TestServer

test.before(
  reportFailure(async () => {
    server = await TestServer.start({ rateLimit: LIMIT })
  }),
)
test.after(reportFailure(() => server.close()))

test('a client that goes on in spite of refusals waits for further ones', () => {
  const limiter = new RateLimiter(2)
  const delays = Array.from({ length: 23 }, () => limiter.consume('a').delayMs)
  assert.equal(delays, [undefined, undefined, ...Array(20).fill(0), 1_000])
  assert.is(limiter.consume('b').delayMs, undefined)
})

test('every response has rate limit headers', async () => {
  const viewer = await server.token('viewer')
  const { headers } = await server.get('/agents', { as: viewer })
  assert.equal([headers['x-ratelimit-limit'], headers['x-ratelimit-remaining']], [String(LIMIT), String(LIMIT - 1)])
  const reset = Number(headers['x-ratelimit-reset'])
  assert.ok(reset > 0 && reset <= 60)
  assert.is(headers['ratelimit-policy'], `"default";q=${LIMIT};w=60`)
  assert.is(headers.ratelimit, `"default";r=${LIMIT - 1};t=${reset}`)
})

test('a token over its limit gets 429 with Retry-After, other tokens do not', async () => {
  const viewer = await server.token('viewer')
  for (let left = LIMIT - 2; left >= 0; left--)
    assert.is((await server.get('/agents', { as: viewer })).headers['x-ratelimit-remaining'], String(left))
  const answer = await server.get('/agents', { as: viewer })
  assert.equal([answer.status, answer.body.code, answer.headers['x-ratelimit-remaining']], [429, 'RATE_LIMITED', '0'])
  assert.is(answer.headers['retry-after'], answer.headers['x-ratelimit-reset'])
  assert.match(answer.body.hint, /CADRE_RATE_LIMIT/)
  const editor = await server.token('editor')
  assert.is((await server.get('/agents', { as: editor })).status, 200)
})

test('rejected requests count towards the limit', async () => {
  const member = await server.token('member')
  await expectError(server.get('/tokens', { as: member }), 'FORBIDDEN')
  await expectError(server.get('/agents?x=1', { as: member }), 'VALIDATION_ERROR')
  assert.is((await server.get('/agents', { as: member })).headers['x-ratelimit-remaining'], String(LIMIT - 3))
})

test('unknown tokens share one limit per address', async () => {
  for (let tried = 0; tried < LIMIT; tried++) await expectError(server.get('/agents', { as: `guess-${tried}` }), 'UNAUTHENTICATED')
  await expectError(server.get('/agents', { as: 'another-guess' }), 'RATE_LIMITED')
  await expectError(server.get('/agents', { as: null }), 'RATE_LIMITED')
  assert.is((await server.get('/agents', { as: await server.token('editor') })).status, 200)
})

test('health is not rate limited', async () => {
  for (let asked = 0; asked < LIMIT * 3; asked++) {
    const { status, headers } = await server.get('/health', { as: null })
    assert.is(status, 200)
    assert.is(headers['x-ratelimit-limit'], undefined)
  }
})

test('the admin token that the CLI of the owner uses has a higher limit, other admin tokens do not', async () => {
  const own = await TestServer.start({ rateLimit: 2, ownerRateLimit: 5 })
  const { token } = (await own.post('/tokens', { name: 'Script', role: 'admin' })).data
  const { headers } = await own.get('/agents')
  assert.equal(
    [headers['x-ratelimit-limit'], headers['x-ratelimit-remaining'], headers['ratelimit-policy']],
    ['5', '3', '"default";q=5;w=60'],
  )
  for (let left = 3; left > 0; left--) assert.is((await own.get('/agents')).status, 200)
  assert.match((await own.get('/agents')).body.error, '5 requests per minute')
  for (let left = 2; left > 0; left--) assert.is((await own.get('/agents', { as: token })).headers['x-ratelimit-limit'], '2')
  await expectError(own.get('/agents', { as: token }), 'RATE_LIMITED')
  await own.close()
})

test('a window ends one minute after its first request', () => {
  let now = 1_000_000
  const limiter = new RateLimiter(2, () => now)
  assert.is(limiter.consume('a').headers['x-ratelimit-reset'], 60)
  now += 30_500
  assert.is(limiter.consume('a').error, undefined)
  const over = limiter.consume('a')
  assert.is(over.error?.code, 'RATE_LIMITED')
  assert.is(over.headers['retry-after'], 30)
  assert.is(limiter.consume('b').error, undefined)
  now += 29_499
  assert.ok(limiter.consume('a').error)
  now += 1
  const fresh = limiter.consume('a')
  assert.is(fresh.error, undefined)
  assert.is(fresh.headers['x-ratelimit-remaining'], 1)
})

test('a window has 60 seconds if the clock has fractions of milliseconds', () => {
  for (let fraction = 0; fraction < 1; fraction += 0.001)
    assert.is(new RateLimiter(2, () => 12_345 + fraction).consume('a').headers['x-ratelimit-reset'], 60)
})

test('a limit of 0 disables the limiter and its headers', () => {
  const limiter = new RateLimiter(0)
  for (let asked = 0; asked < 1000; asked++) assert.equal(limiter.consume('a'), { headers: {}, error: undefined })
})

test.run()
