import { setImmediate } from 'node:timers/promises'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { ResponseReader } from '../../daemon/outbound/response-reader.ts'

const test = suite('response reader')

/** A stub of undici's request controller. */
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

function startResponse(): { reader: ResponseReader; controller: FakeController } {
  const reader = new ResponseReader()
  const controller = new FakeController()
  reader.onRequestStart(controller)
  reader.onResponseStart(controller, 200, {})
  return { reader, controller }
}

test('the response reader pauses the sender while nothing is read', async () => {
  const { reader, controller } = startResponse()
  const part = Buffer.alloc(40_000)
  reader.onResponseData(controller, part)
  assert.not(controller.paused)
  reader.onResponseData(controller, part)
  assert.ok(controller.paused)
  assert.is((await reader.next())?.length, 80_000)
  assert.not(controller.paused)
  reader.onResponseData(controller, part)
  reader.onResponseEnd()
  assert.is(await reader.next(), part)
  assert.is(await reader.next(), undefined)
})

test('a request aborted before it is sent is not sent and causes no unhandled rejection', async () => {
  const rejections: unknown[] = []
  const onRejection = (error: unknown) => void rejections.push(error)
  process.on('unhandledRejection', onRejection)
  const [reader, controller] = [new ResponseReader(), new FakeController()]
  const reason = new Error('never mind')
  reader.abort(reason)
  await setImmediate()
  process.off('unhandledRejection', onRejection)
  assert.equal(rejections, [])
  reader.onRequestStart(controller)
  assert.is(controller.reason, reason)
  assert.is(await reader.head.catch((error) => error), reason)
})

test('bytes received before a connection error are returned before the error', async () => {
  const { reader, controller } = startResponse()
  reader.onResponseData(controller, Buffer.from([1]))
  reader.onResponseData(controller, Buffer.from([2]))
  const broken = new Error('ECONNRESET')
  reader.onResponseError(controller, broken)
  assert.equal([...((await reader.next()) ?? [])], [1, 2])
  assert.is(await reader.next().catch((error) => error), broken)
})

test.run()
