/** Text that comes in pieces: safe and well broken, however it is cut. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { StreamSanitizer, StreamWrapper } from '../../../src/cli/terminal/stream-wrapper.ts'

const test = suite('text that flows')

const safe = (...pieces: string[]) => {
  const text = new StreamSanitizer()
  return pieces.map((piece) => text.push(piece)).join('') + text.end()
}

const flow = (columns: number, ...pieces: string[]) => {
  const text = new StreamWrapper(() => columns)
  return pieces.map((piece) => text.push(piece)).join('') + text.end()
}

/** Every way to cut a text in two, and one character at a time. */
const cuts = (text: string) => [...Array.from(text, (_, at) => [text.slice(0, at), text.slice(at)]), text.split('')]

test('an escape sequence goes whole, however it is cut', () => {
  const text = 'a\u001b[31mred\u001b[0m \u001b]0;title\u0007b\u001b]8;;http://x\u001b\\link\u001b]8;;\u001b\\ \u009b31mc\r\nd\u202e.'
  for (const pieces of cuts(text)) assert.is(safe(...pieces), 'ared blink 31mc\nd.', JSON.stringify(pieces))
})

test('no piece ever lets an escape through, also from a sequence without an end', () => {
  const text = new StreamSanitizer()
  const pieces = ['\u001b]0;', 'x'.repeat(5000), '\u001b', '[2J', '\u001bP', 'y', '\u001b']
  const out = pieces.map((piece) => text.push(piece)).join('') + text.end()
  assert.not.match(out, '\u001b')
})

test('a character of two halves comes out whole', () => {
  assert.is(safe('🧭'.slice(0, 1), `${'🧭'.slice(1)}!`), '🧭!')
})

test('lines break between words, however the text is cut', () => {
  const text = 'Every employee gets twenty-five days of paid annual leave [1].\n\nAsk Ada.'
  const expected = 'Every employee gets\ntwenty-five days of\npaid annual leave\n[1].\n\nAsk Ada.'
  for (const pieces of cuts(text)) assert.is(flow(20, ...pieces), expected, JSON.stringify(pieces))
})

test('nothing but the word being written is held back', () => {
  const text = new StreamWrapper(() => 20)
  assert.is(text.push('Every emp'), 'Every')
  assert.is(text.push('loyee g'), ' employee')
  assert.is(text.end(), ' g')
})

test('code between fences and rows of tables keep their lines', () => {
  const text = 'See:\n```sh\ncadre knowledge add ./handbook  # a folder\n```\n| one | two | three | four |\nand then words that break'
  for (const pieces of cuts(text))
    assert.is(
      flow(20, ...pieces),
      'See:\n```sh\ncadre knowledge add ./handbook  # a folder\n```\n| one | two | three | four |\nand then words that\nbreak',
      JSON.stringify(pieces),
    )
})

test('a word that is wider than the terminal is left to it', () => {
  assert.is(flow(10, 'see https://example.com/a/long/path now'), 'see\nhttps://example.com/a/long/path\nnow')
})

test('scripts without spaces flow too, and break where they must', () => {
  const text = new StreamWrapper(() => 8)
  assert.is(text.push('年次有給休暇'), '年次有給\n休')
  assert.is(text.end(), '暇')
})

test('what is said in between begins a line, and what follows begins another', () => {
  const text = new StreamWrapper(() => 40)
  const out = [
    text.push('They are taken wit'),
    text.interrupt(),
    text.push(' and then'),
    text.interrupt(),
    text.interrupt(),
    text.push('\n\nmore'),
    text.end(),
  ]
  assert.equal(out, ['They are taken', ' wit\n', 'and', ' then\n', '', '\n\n', 'more'])
})

test('spaces at the end of a line are not written, indentation is', () => {
  assert.is(flow(40, '- one   \n    two'), '- one\n    two')
})

test('what stands out is painted word by word, and takes no room', () => {
  const text = new StreamWrapper(
    () => 12,
    (word) => word.replace(/\[\d+\]/g, '<$&>'),
  )
  assert.is(text.push('twelve wide [1] and') + text.end(), 'twelve wide\n<[1]> and')
})

test.run()
