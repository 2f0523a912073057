/** Encoding and decoding of Server-Sent Events. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { decodeEvents, EventDecoder, encodeComment, encodeEvent } from '../../src/sse.ts'

const test = suite('server-sent events')

const decode = (...pieces: string[]) => {
  const decoder = new EventDecoder()
  return pieces.flatMap((piece) => decoder.push(piece))
}

test('a decoded event equals the encoded one', () => {
  const event = { event: 'message_delta', data: '{"text":"two\\nlines"}', id: '7' }
  assert.equal(decode(encodeEvent(event)), [event])
})

test('data with several lines keeps its lines', () => {
  assert.equal(decode(encodeEvent({ event: 'note', data: 'one\ntwo\r\nthree' })), [{ event: 'note', data: 'one\ntwo\nthree' }])
})

test('a line end in an event name cannot forge another field', () => {
  assert.equal(decode(encodeEvent({ event: 'a\ndata: forged', data: 'x' })), [{ event: 'a data: forged', data: 'x' }])
})

test('the decoded events do not depend on where the text is cut', () => {
  const text = '\uFEFF: hello\r\nevent: a\r\ndata: 1\r\ndata: 2\r\n\r\nid: 3\rdata:x\r\rdata\n\n'
  const events = decode(text)
  assert.equal(events, [
    { event: 'a', data: '1\n2' },
    { event: 'message', data: 'x', id: '3' },
    { event: 'message', data: '', id: '3' },
  ])
  for (let cut = 1; cut < text.length; cut++) assert.equal(decode(text.slice(0, cut), text.slice(cut)), events, `cut at ${cut}`)
  assert.equal(decode(...text), events, 'one character at a time')
})

test('comments and events without data are ignored', () => {
  assert.equal(decode(encodeComment('still here'), 'event: nothing\n\n'), [])
})

test('an incomplete event at the end is dropped', () => {
  assert.equal(decode('data: whole\n\ndata: half\n'), [{ event: 'message', data: 'whole' }])
})

test('unknown fields are ignored unless nothing else arrives', () => {
  const unknown = 'retry: soon\nvendor: x\n'.repeat(400)
  assert.is(decode(`${unknown}data: 1\n\n${unknown}data: 2\n\n`).length, 2)
  assert.throws(() => decode(unknown, unknown), /not an event stream/)
})

test('multi-byte characters cut between chunks are decoded whole', async () => {
  const bytes = Buffer.from('\uFEFFdata: größe 🧭\n\n')
  async function* single() {
    for (const byte of bytes) yield Uint8Array.of(byte)
  }
  const events = []
  for await (const event of decodeEvents(single())) events.push(event)
  assert.equal(events, [{ event: 'message', data: 'größe 🧭' }])
})

test.run()
