import { setImmediate } from 'node:timers/promises'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { ResponseReader } from '../../daemon/outbound/response-reader.ts'

const test = suite('an answer as it arrives')

/** What undici hands a request to steer itself by. */
class FakeController {
  aborted = false
  reason: Error | null = null
  paused = false
  rawHeaders = null
  rawTrailers = null

  abort(reason: Error): void {
    this.aborted = true
    this.reason = reason
  }

  pause(): void {
    this.paused = true
  }

  resume(): void {
    this.paused = false
  }
}

function startResponse(): { incoming: ResponseReader; steering: FakeController } {
  const incoming = new ResponseReader()
  const steering = new FakeController()
  incoming.onRequestStart(steering)
  incoming.onResponseStart(steering, 200, {})
  return { incoming, steering }
}

test('the response reader pauses the sender while nothing is read', async () => {
  const { incoming, steering } = startResponse()
  const part = Buffer.alloc(40_000)
  incoming.onResponseData(steering, part)
  assert.not(steering.paused)
  incoming.onResponseData(steering, part)
  assert.ok(steering.paused)
  assert.is((await incoming.next())?.length, 80_000)
  assert.not(steering.paused)
  incoming.onResponseData(steering, part)
  incoming.onResponseEnd()
  assert.is(await incoming.next(), part)
  assert.is(await incoming.next(), undefined)
})

test('a request aborted before it is sent is not sent and causes no unhandled rejection', async () => {
  const crashes: unknown[] = []
  const crashed = (error: unknown) => void crashes.push(error)
  process.on('unhandledRejection', crashed)
  const [incoming, steering] = [new ResponseReader(), new FakeController()]
  const reason = new Error('never mind')
  incoming.abort(reason)
  await setImmediate()
  process.off('unhandledRejection', crashed)
  assert.equal(crashes, [])
  incoming.onRequestStart(steering)
  assert.is(steering.reason, reason)
  assert.is(await incoming.head.catch((error) => error), reason)
})

test('bytes received before a connection error are returned before the error', async () => {
  const { incoming, steering } = startResponse()
  incoming.onResponseData(steering, Buffer.from([1]))
  incoming.onResponseData(steering, Buffer.from([2]))
  const broken = new Error('ECONNRESET')
  incoming.onResponseError(steering, broken)
  assert.equal([...((await incoming.next()) ?? [])], [1, 2])
  assert.is(await incoming.next().catch((error) => error), broken)
})

test.run()
