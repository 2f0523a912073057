/** Streamed text is sanitized and wrapped regardless of how it is split. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { StreamSanitizer, StreamWrapper, type TextStyles } from '../../../src/cli/terminal/stream-wrapper.ts'

const test = suite('stream wrapper')

const sanitize = (...pieces: string[]) => {
  const text = new StreamSanitizer()
  return pieces.map((piece) => text.push(piece)).join('') + text.end()
}

const wrap = (columns: number, ...pieces: string[]) => {
  const text = new StreamWrapper(() => columns)
  return pieces.map((piece) => text.push(piece)).join('') + text.end()
}

/** All ways to split a text in two, and into single characters. */
const split = (text: string) => [...Array.from(text, (_, at) => [text.slice(0, at), text.slice(at)]), text.split('')]

test('an escape sequence is removed wherever it is split', () => {
  const text = 'a\u001b[31mred\u001b[0m \u001b]0;title\u0007b\u001b]8;;http://x\u001b\\link\u001b]8;;\u001b\\ \u009b31mc\r\nd\u202e.'
  for (const pieces of split(text)) assert.is(sanitize(...pieces), 'ared blink 31mc\nd.', JSON.stringify(pieces))
})

test('no output contains an escape character, even for unterminated sequences', () => {
  const text = new StreamSanitizer()
  const pieces = ['\u001b]0;', 'x'.repeat(5000), '\u001b', '[2J', '\u001bP', 'y', '\u001b']
  const out = pieces.map((piece) => text.push(piece)).join('') + text.end()
  assert.not.match(out, '\u001b')
})

test('a split surrogate pair is joined', () => {
  assert.is(sanitize('🧭'.slice(0, 1), `${'🧭'.slice(1)}!`), '🧭!')
})

test('lines wrap between words wherever the text is split', () => {
  const text = 'Every employee gets twenty-five days of paid annual leave [1].\n\nAsk Ada.'
  const expected = 'Every employee gets\ntwenty-five days of\npaid annual leave\n[1].\n\nAsk Ada.'
  for (const pieces of split(text)) assert.is(wrap(20, ...pieces), expected, JSON.stringify(pieces))
})

test('only the incomplete last word is held back', () => {
  const text = new StreamWrapper(() => 20)
  assert.is(text.push('Every emp'), 'Every')
  assert.is(text.push('loyee g'), ' employee')
  assert.is(text.end(), ' g')
})

/** Shows how each part is formatted. */
const STYLES: TextStyles = {
  formatWord: (word) => word.replace(/\[\d+\]/g, '<$&>'),
  formatBold: (word) => word.toUpperCase(),
  formatCode: (word) => `{${word}}`,
  formatTable: (markdown, columns) => markdown.split('\n').map((row) => `${columns} ${row}`),
}

const render = (columns: number, pieces: readonly string[]) => {
  const text = new StreamWrapper(() => columns, STYLES)
  return pieces.map((piece) => text.push(piece)).join('') + text.end()
}

const RENDERED: readonly (readonly [name: string, columns: number, markdown: string, expected: string])[] = [
  ['bold text and code lose their marks', 60, 'Use **two words**, or `a b` (`c`).', 'Use TWO WORDS, or {a} {b} ({c}).'],
  ['code in bold text loses its marks', 60, 'Set **`port`** now', 'Set PORT now'],
  ['marks in code are part of it', 60, 'Call `f(**x)` here', 'Call {f(**x)} here'],
  [
    'marks that are not closed are text',
    60,
    'Pass **kwargs and 2 ** 3 and 5 * 3 and a ` tick',
    'Pass **kwargs and 2 ** 3 and 5 * 3 and a ` tick',
  ],
  ['headings are bold', 60, '## A title\ntext', 'A TITLE\ntext'],
  [
    'lists have bullets, numbers and hanging lines',
    20,
    '- one two three four five\n  1. six\n* seven',
    '• one two three four\n  five\n  1. six\n• seven',
  ],
  [
    'code is indented and not wrapped',
    20,
    'See:\n```sh\ncadre knowledge add ./handbook  # a **folder**\n\nend\n```\nok',
    'See:\n  cadre knowledge add ./handbook  # a **folder**\n\n  end\nok',
  ],
  [
    'tables are rendered when they are complete',
    20,
    '| a | b |\n|---|---|\n| c | d |\n\n[1]',
    '20 | a | b |\n20 |---|---|\n20 | c | d |\n\nSource: <[1]>',
  ],
  ['a comma after bold text does not start a line', 24, 'It may be so or **nineteen**, yes', 'It may be so or\nNINETEEN, yes'],
]
for (const [name, columns, markdown, expected] of RENDERED)
  test(`${name}, wherever the text is split`, () => {
    for (const pieces of split(markdown)) assert.is(render(columns, pieces).trimEnd(), expected, JSON.stringify(pieces))
  })

test('bold text is held back until it is complete', () => {
  const text = new StreamWrapper(() => 40, STYLES)
  const out = ['They have (**twenty', '-five days', '** of leave'].map((piece) => text.push(piece))
  assert.equal([...out, text.end()], ['They have', '', ' (TWENTY-FIVE DAYS of', ' leave'])
})

test('a word wider than the terminal is not broken', () => {
  assert.is(wrap(10, 'see https://example.com/a/long/path now'), 'see\nhttps://example.com/a/long/path\nnow')
})

test('scripts without spaces are streamed and wrapped between characters', () => {
  const text = new StreamWrapper(() => 8)
  assert.is(text.push('年次有給休暇'), '年次有給\n休')
  assert.is(text.end(), '暇')
})

test('interrupt ends the line, and the next text starts a new one', () => {
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

test('trailing spaces are removed, and indentation is kept', () => {
  assert.is(wrap(40, '- one   \n    two'), '• one\n    two')
})

test('formats do not count towards the width', () => {
  assert.is(render(12, ['twelve wide [1] and']), 'twelve wide\n<[1]> and')
})

test('a mark without a counterpart does not hold back a long line', () => {
  const text = new StreamWrapper(() => 10_000)
  assert.is(text.push('An open ` mark'), 'An open')
  const words = ' word'.repeat(500)
  assert.is(text.push(words), ` \` mark${words.slice(0, -' word'.length)}`)
  assert.is(text.end(), ' word')
})

test('a very long word takes no longer than its length', () => {
  const word = 'x'.repeat(500_000) // a quadratic search would not end
  assert.is(wrap(40, word, ' and more'), `${word}\nand more`)
})

test('a word is not broken, however long it is and wherever it is split', () => {
  const text = `before ${'x'.repeat(10_000)} after`
  const pieces = text.match(/.{1,7}/g) ?? []
  assert.ok(wrap(20, ...pieces) === `before\n${'x'.repeat(10_000)}\nafter`)
})

test.run()
