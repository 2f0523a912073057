/** Server-Sent Events, encoded and decoded. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { decodeEvents, EventDecoder, encodeComment, encodeEvent } from '../../src/sse.ts'

const test = suite('server-sent events')

const decode = (...pieces: string[]) => {
  const decoder = new EventDecoder()
  return pieces.flatMap((piece) => decoder.push(piece))
}

test('an event comes back as it was sent', () => {
  const event = { event: 'message_delta', data: '{"text":"two\\nlines"}', id: '7' }
  assert.equal(decode(encodeEvent(event)), [event])
})

test('data of several lines keeps its lines', () => {
  assert.equal(decode(encodeEvent({ event: 'note', data: 'one\ntwo\r\nthree' })), [{ event: 'note', data: 'one\ntwo\nthree' }])
})

test('a line end in a name cannot forge another field', () => {
  assert.equal(decode(encodeEvent({ event: 'a\ndata: forged', data: 'x' })), [{ event: 'a data: forged', data: 'x' }])
})

test('every way to cut the text gives the same events', () => {
  const text = '\uFEFF: hello\r\nevent: a\r\ndata: 1\r\ndata: 2\r\n\r\nid: 3\rdata:x\r\rdata\n\n'
  const whole = decode(text)
  assert.equal(whole, [
    { event: 'a', data: '1\n2' },
    { event: 'message', data: 'x', id: '3' },
    { event: 'message', data: '', id: '3' },
  ])
  for (let cut = 1; cut < text.length; cut++) assert.equal(decode(text.slice(0, cut), text.slice(cut)), whole, `cut at ${cut}`)
  assert.equal(decode(...text), whole, 'one character at a time')
})

test('comments and events without data say nothing', () => {
  assert.equal(decode(encodeComment('still here'), 'event: nothing\n\n'), [])
})

test('an unfinished event at the end is dropped', () => {
  assert.equal(decode('data: whole\n\ndata: half\n'), [{ event: 'message', data: 'whole' }])
})

test('characters that were cut in two come out whole', async () => {
  const bytes = Buffer.from('data: größe 🧭\n\n')
  async function* single() {
    for (const byte of bytes) yield Uint8Array.of(byte)
  }
  const events = []
  for await (const event of decodeEvents(single())) events.push(event)
  assert.equal(events, [{ event: 'message', data: 'größe 🧭' }])
})

test.run()
