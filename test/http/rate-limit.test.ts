import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { RateLimiter } from '../../daemon/http/rate-limiter.ts'
import { expectError } from '../harness/expect.ts'
import { aloud } from '../harness/hooks.ts'
import { TestServer } from '../harness/test-server.ts'

const LIMIT = 8
const test = suite('rate limit')
let service: TestServer

test.before(
  aloud(async () => {
    service = await TestServer.start({ rateLimit: LIMIT })
  }),
)
test.after(aloud(() => service.close()))

test('every answer says how many requests are left', async () => {
  const viewer = await service.token('viewer')
  const { headers } = await service.get('/agents', { as: viewer })
  assert.equal([headers['x-ratelimit-limit'], headers['x-ratelimit-remaining']], [String(LIMIT), String(LIMIT - 1)])
  const reset = Number(headers['x-ratelimit-reset'])
  assert.ok(reset > 0 && reset <= 60)
  assert.is(headers['ratelimit-policy'], `"default";q=${LIMIT};w=60`)
  assert.is(headers.ratelimit, `"default";r=${LIMIT - 1};t=${reset}`)
})

test('over the limit it is 429 with the time to wait, for that token alone', async () => {
  const viewer = await service.token('viewer')
  for (let left = LIMIT - 2; left >= 0; left--)
    assert.is((await service.get('/agents', { as: viewer })).headers['x-ratelimit-remaining'], String(left))
  const answer = await service.get('/agents', { as: viewer })
  assert.equal([answer.status, answer.body.code, answer.headers['x-ratelimit-remaining']], [429, 'RATE_LIMITED', '0'])
  assert.is(answer.headers['retry-after'], answer.headers['x-ratelimit-reset'])
  assert.match(answer.body.hint, /CADRE_RATE_LIMIT/)
  const editor = await service.token('editor')
  assert.is((await service.get('/agents', { as: editor })).status, 200)
})

test('refused requests count too: errors, and what a role may not do', async () => {
  const member = await service.token('member')
  await expectError(service.get('/tokens', { as: member }), 'FORBIDDEN')
  await expectError(service.get('/agents?x=1', { as: member }), 'VALIDATION_ERROR')
  assert.is((await service.get('/agents', { as: member })).headers['x-ratelimit-remaining'], String(LIMIT - 3))
})

test('tokens that are tried and do not exist share one allowance, and cannot use up that of others', async () => {
  for (let tried = 0; tried < LIMIT; tried++) await expectError(service.get('/agents', { as: `guess-${tried}` }), 'UNAUTHENTICATED')
  await expectError(service.get('/agents', { as: 'another-guess' }), 'RATE_LIMITED')
  await expectError(service.get('/agents', { as: null }), 'RATE_LIMITED')
  assert.is((await service.get('/agents', { as: await service.token('editor') })).status, 200)
})

test('health is always answered', async () => {
  for (let asked = 0; asked < LIMIT * 3; asked++) {
    const { status, headers } = await service.get('/health', { as: null })
    assert.is(status, 200)
    assert.is(headers['x-ratelimit-limit'], undefined)
  }
})

test('the window ends a minute after its first request, and then begins anew', () => {
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

test('a limit of 0 is none, and adds no headers', () => {
  const limiter = new RateLimiter(0)
  for (let asked = 0; asked < 1000; asked++) assert.equal(limiter.consume('a'), { headers: {}, refused: undefined })
})

test.run()
