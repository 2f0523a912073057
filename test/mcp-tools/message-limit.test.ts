import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { createResponseLimit, type MessageEnd, MessageLimit, TrafficLimit } from '../../daemon/mcp-servers/connections/message-limit.ts'

const test = suite('limits of MCP messages')

/** Returns what is exceeded first if the text arrives in parts of this size. */
function check(text: string, end: MessageEnd, size = 1_000_003): string | undefined {
  const limit = new MessageLimit(new TrafficLimit(), end)
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += size) {
    const exceeded = limit.count(bytes.subarray(at, at + size))
    if (exceeded) return exceeded
  }
  return undefined
}

const TOO_MANY = 'sent a message with more than 30000 values'
const array = (values: number) => `[${'1,'.repeat(values - 1)}1]`

test('values of a message are counted, however it is split', () => {
  for (const size of [1, 7, 65_536]) {
    assert.is(check(array(30_000), 'response', size), undefined)
    assert.is(check(array(30_001), 'response', size), TOO_MANY)
    assert.is(check('['.repeat(30_001), 'response', size), TOO_MANY)
  }
})

test('commas and brackets in strings are no values', () => {
  const text = JSON.stringify({ text: `,[{"\\"${',[{\\"'.repeat(50_000)}\\` })
  assert.is(check(text, 'response', 13), undefined)
  assert.is(check(`${text.slice(0, -1)},${array(30_001)}}`, 'response'), TOO_MANY)
})

test('each line, and each event of a stream, is a message of its own', () => {
  const lines = `${array(20_000)}\n`.repeat(3)
  assert.is(check(lines, 'line'), undefined)
  assert.is(check(lines, 'response'), TOO_MANY)
  for (const newline of ['\n', '\r\n']) {
    const event = `event: message${newline}data: ${array(20_000)}${newline}${newline}`
    assert.is(check(event.repeat(3), 'empty line'), undefined)
    assert.is(check(`data: ${array(20_000)}${newline}`.repeat(2), 'empty line'), TOO_MANY, 'an event of two lines')
  }
})

test('a quote outside of JSON does not hide what follows', () => {
  assert.is(check(`: "\ndata: ${array(30_001)}\n\n`, 'empty line'), TOO_MANY)
  assert.is(check(`log "\n${array(30_001)}`, 'line'), TOO_MANY)
  assert.is(check(`log \\"\\\n${array(30_001)}`, 'line'), TOO_MANY)
})

test('many small messages are limited together', () => {
  assert.is(check(`${array(20_000)}\n`.repeat(6), 'line'), 'sent more than 100000 values within 10 s')
})

test('a message has at most 4 MB', () => {
  assert.is(check('x'.repeat(4 * 1024 * 1024), 'response'), undefined)
  assert.is(check('x'.repeat(4 * 1024 * 1024 + 1), 'response'), 'sent a message of more than 4 MB')
  assert.is(check(`data: ${'x'.repeat(3 * 1024 * 1024)}\n\n`.repeat(2), 'empty line'), undefined)
})

test('an empty line ends a message only in a stream of events', () => {
  const parts = [array(20_000), '\n\n', array(20_000)].map((text) => Buffer.from(text))
  const find = (contentType: string, { accept = 'application/json, text/event-stream', status = 200 } = {}) => {
    const limit = createResponseLimit(new TrafficLimit())({ accept, status, contentType })
    return parts.map((part) => limit(part)).find(Boolean)
  }
  for (const type of ['text/event-stream', 'text/event-stream; charset=utf-8', ' Text/Event-Stream ;a="application/json"'])
    assert.is(find(type), undefined, type)
  for (const type of ['', 'application/json', 'application/json; a="text/event-stream"', 'text/event-stream,application/json'])
    assert.is(find(type), TOO_MANY, type)
  assert.is(find('text/event-stream', { accept: 'application/json' }), TOO_MANY, 'a request that accepts no events')
  assert.is(find('text/event-stream', { status: 400 }), TOO_MANY, 'an error')
})

test('a response to a message has at most 64 MB, however slowly it arrives', () => {
  // Stands for a limit on what arrives within ten seconds, of which none is exceeded.
  const traffic = Object.assign(new TrafficLimit(), { count: () => undefined })
  const createLimit = (accept: string) => createResponseLimit(traffic)({ accept, status: 200, contentType: 'text/event-stream' })
  const [limit, limitOfStream] = [createLimit('application/json, text/event-stream'), createLimit('text/event-stream')]
  const event = Buffer.from(`${'x'.repeat(1024 * 1024 - 2)}\n\n`)
  for (let megabytes = 1; megabytes <= 64; megabytes++) assert.is(limit(event), undefined)
  assert.is(limit(event), 'sent a response of more than 64 MB')
  for (let megabytes = 1; megabytes <= 65; megabytes++) assert.is(limitOfStream(event), undefined)
})

const TOO_LONG = 'sent a message with more than 2000 elements of lists'
const elements = (count: number) => Array(count).fill({ type: 'text' })

test('elements that are validated one by one are counted, wherever they are', () => {
  const find = (result: unknown) => new TrafficLimit().countElements({ jsonrpc: '2.0', id: 1, result })
  for (const name of ['content', 'tools', 'contents', 'messages', 'resources']) {
    assert.is(find({ [name]: elements(2_000) }), undefined)
    assert.is(find({ [name]: elements(2_001) }), TOO_LONG)
  }
  assert.is(find({ content: [{ type: 'text', text: 'a', annotations: { audience: elements(2_000) } }] }), TOO_LONG)
  assert.is(find({ content: Array(20).fill({ icons: [{ sizes: Array(100).fill(1) }] }) }), TOO_LONG)
})

test('elements that are not validated one by one are not counted', () => {
  const traffic = new TrafficLimit()
  const schema = { type: 'object', properties: { zone: { enum: elements(9_000) } } }
  const tools = Array(500).fill({ name: 'a', inputSchema: schema, outputSchema: schema, icons: [{ src: 'a', sizes: ['48x48'] }] })
  for (const message of [
    { result: { content: [], structuredContent: { rows: elements(29_000) } } },
    { result: { tools } },
    { method: 'notifications/message', params: { level: 'info', data: elements(29_000) } },
    null,
    [],
    'text',
  ])
    assert.is(traffic.countElements(message), undefined)
})

test('the elements of several messages are limited together', () => {
  const traffic = new TrafficLimit()
  const message = { result: { content: elements(2_000) } }
  assert.is(traffic.countElements(message, 1), undefined)
  assert.is(traffic.countElements(message, 1), undefined)
  assert.is(traffic.countElements(message, 1), 'sent more than 4000 elements of lists within 10 s')
})

test.run()
