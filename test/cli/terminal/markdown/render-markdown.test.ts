/** Rendering of Markdown: blocks, width, streaming and hostile input. */
import * as fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { renderMarkdown } from '../../../../src/cli/terminal/markdown/render-markdown.ts'
import { INITIAL_STREAM, renderStream, type StreamState } from '../../../../src/cli/terminal/markdown/streaming-markdown.ts'
import { type Line, toAnsi, toPlainText } from '../../../../src/cli/terminal/markdown/styled-text.ts'
import { stringWidth } from '../../../../src/cli/terminal/text.ts'

const test = suite('markdown')

const renderPlain = (text: string, columns = 60) => renderMarkdown(text, columns).map(toPlainText)
const renderColored = (text: string, columns = 60) => renderMarkdown(text, columns).map((line) => toAnsi(line, true))

/** Returns the final lines, and the live lines after each piece. */
function stream(pieces: readonly string[], columns = 60): { done: string[]; live: string[][] } {
  let state: StreamState = INITIAL_STREAM
  const done: Line[] = []
  const live: string[][] = []
  let text = ''
  for (const piece of [...pieces, undefined]) {
    text += piece ?? ''
    const next = renderStream(state, text, columns, piece === undefined)
    state = next.state
    done.push(...next.done)
    live.push(next.live.map(toPlainText))
  }
  return { done: done.map(toPlainText), live }
}

const EVERYTHING = `# Leave

You have **25 days** of *paid* leave a year [1], ~~not~~ see [the handbook](https://example.com/leave).

## What counts

- weekends do not
  - nor do holidays
    1. of the state
    2. of the country
- \`half days\` do

3. third
4. fourth

- [x] asked
- [ ] approved

> Ask early.
> Ask twice.

| Kind | Days | Note |
|:-----|-----:|:----:|
| annual | 25 | paid |
| 日本語 | 5 | 👩‍👩‍👧 |

\`\`\`ts
const days = 25 // a year
/* not
   less */
\`\`\`

---

The end.`

test('each block type is rendered', () => {
  assert.equal(renderPlain(EVERYTHING), [
    'Leave',
    '',
    'You have 25 days of paid leave a year [1], not see the',
    'handbook (https://example.com/leave).',
    '',
    'What counts',
    '',
    '• weekends do not',
    '  ◦ nor do holidays',
    '    1. of the state',
    '    2. of the country',
    '• half days do',
    '',
    '3. third',
    '4. fourth',
    '',
    '• [x] asked',
    '• [ ] approved',
    '',
    '│ Ask early.',
    '│ Ask twice.',
    '',
    'Kind   │ Days │ Note',
    '───────┼──────┼─────',
    'annual │   25 │ paid',
    '日本語 │    5 │  👩‍👩‍👧 ',
    '',
    '  const days = 25 // a year',
    '  /* not',
    '     less */',
    '',
    '────────────────────────────────────────',
    '',
    'The end.',
  ])
})

test('emphasis, code, citations, keywords, strings and comments are colored', () => {
  assert.equal(renderColored('**b** *i* ~~s~~ `c` [1]'), [
    '\u001b[1mb\u001b[22m \u001b[3mi\u001b[23m \u001b[9ms\u001b[29m \u001b[33mc\u001b[39m \u001b[36m[1]\u001b[39m',
  ])
  assert.equal(renderColored('```py\nreturn "x" # why\n```'), [
    '  \u001b[35mreturn\u001b[39m \u001b[32m"x"\u001b[39m \u001b[2m# why\u001b[22m',
  ])
  assert.equal(renderColored('```js\n/* a\nb */ 3\n```'), ['  \u001b[2m/* a\u001b[22m', '  \u001b[2mb */\u001b[22m \u001b[33m3\u001b[39m'])
  const words = renderColored('```sh\necho $# a#b\n```')
  assert.equal(words, ['  \u001b[35mecho\u001b[39m $# a#b'], 'a # inside a word does not start a comment')
})

test('no line is wider than the columns, with wide characters too', () => {
  const table = `| ${'很长的标题 | '.repeat(6)}\n|${'--|'.repeat(6)}\n| ${'内容内容内容 | '.repeat(6)}\n`
  const wide = `${EVERYTHING}\n\n中文和日本語のテキストは空白なしで折り返されます。これは長い文です。\n\n${table}`
  for (const columns of [14, 20, 40, 80, 120])
    for (const line of renderPlain(wide, columns)) assert.ok(stringWidth(line) <= columns, `${columns}: ${line}`)
})

test('a table too narrow for its columns is rendered as records', () => {
  const lines = renderPlain(
    '| Name | Age | City | Street | Country |\n|--|--|--|--|--|\n| Ada Lovelace | 36 | London | St James | England |',
    24,
  )
  assert.equal(lines, ['Name: Ada Lovelace', 'Age: 36', 'City: London', 'Street: St James', 'Country: England'])
})

test('the cells of a wide table wrap', () => {
  assert.equal(renderPlain('| A | B |\n|--|--|\n| one two three four | x |', 16), [
    'A            │ B',
    '─────────────┼──',
    'one two      │ x',
    'three four   │  ',
  ])
})

test('citations alone on a line are labelled', () => {
  assert.equal(renderPlain('| a |\n|---|\n| b |\n\n[1]').at(-1), 'Source: [1]')
  assert.equal(renderPlain('```\ncode\n```\n\n[1] [2]').at(-1), 'Sources: [1] [2]')
  assert.equal(renderPlain('[1] says so.'), ['[1] says so.'])
})

test('entities are decoded', () => {
  assert.equal(renderPlain('a &lt;b&gt; &amp; &#233; &nope; `&lt;`'), ['a <b> & é &nope; &lt;'])
})

test('a reply cannot send control characters to the terminal', () => {
  const evil = [
    'a\u001b[2Jb \u001b]8;;http://x\u0007link\u001b]8;;\u0007 \u009b31m \u202ethgir\u202c',
    'entity &#27;[31m &#x9b;2J &#x1b;]0;t&#7;',
    '[text](http://x/\u001b[31m "ti\u001btle")',
    '`code \u001b[5m`',
    '```\u001b[1m\nfenced \u001b[31m\u0007\n```',
    '| \u001b[7mhead |\n|--|\n| \u009dcell |',
    '<b\u001b[3m>html</b>',
    '# \u001b]52;c;ZXZpbA==\u0007heading',
  ].join('\n\n')
  const steering = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/
  for (const line of renderPlain(evil)) assert.not.match(line, steering)
  for (const line of stream(evil.split('')).done) assert.not.match(line, steering)
  for (const line of renderColored(evil)) assert.not.match(line.replaceAll(/\u001b\[[\d;]*m/g, ''), steering)
})

test('an escape sequence split between chunks is removed', () => {
  assert.equal(stream('one \u001b[31mred\u001b[0m \u001b]0;title\u0007two\r\nthree'.split('')).done, ['one red two', 'three'])
})

test('the final output does not depend on the chunks', () => {
  const whole = renderPlain(EVERYTHING)
  assert.equal(stream([EVERYTHING]).done, whole)
  assert.equal(stream(EVERYTHING.split('')).done, whole)
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 5, maxLength: 60 }), (sizes) => {
      const pieces: string[] = []
      let offset = 0
      for (const size of sizes) {
        pieces.push(EVERYTHING.slice(offset, offset + size))
        offset += size
      }
      assert.equal(stream([...pieces, EVERYTHING.slice(offset)]).done, whole)
    }),
  )
})

test('a block is final when the next one starts', () => {
  let { state, done, live } = renderStream(INITIAL_STREAM, 'First paragraph.\n\nSecond', 60, false)
  assert.equal([done.map(toPlainText), live.map(toPlainText)], [['First paragraph.'], ['', 'Second']])
  ;({ state: state, done, live } = renderStream(state, 'First paragraph.\n\nSecond one.', 60, false))
  assert.equal([done.map(toPlainText), live.map(toPlainText)], [[], ['', 'Second one.']])
  ;({ done, live } = renderStream(state, 'First paragraph.\n\nSecond one.', 60, true))
  assert.equal([done.map(toPlainText), live], [['', 'Second one.'], []])
})

test('a line of code is final before the fence closes', () => {
  const { live } = stream(['```py', '\nx = 1\ny', ' = 2\n', '```\nafter'])
  assert.equal(live, [[], ['  y'], [], ['', 'after'], []])
  assert.equal(stream(['```py\nx = 1\n']).done, ['  x = 1'], 'an unclosed fence is code')
})

test('three backticks inside a paragraph start no fence while streaming', () => {
  const pieces = ['Use\n```', 'npm test', '``` here.\n']
  assert.equal(stream(pieces).done, renderPlain(pieces.join('')))
})

test('an unfinished table is rendered as a table', () => {
  const { live } = stream(['| a | b |', '\n|-', '-|--|\n', '| 1 |'])
  assert.equal(live[0], ['a │ b', '──┼──'])
  assert.equal(live[1], ['a │ b', '──┼──'])
  assert.equal(live[3], ['a │ b', '──┼──', '1 │  '])
})

test('a list continues across an empty line', () => {
  assert.equal(stream(['- one\n\n', '-', ' two\n\n', 'end']).done, ['• one', '', '• two', '', 'end'])
  assert.equal(stream(['1. one\n\n', '2', '. two\n', 'x']).done.slice(0, 3), ['1. one', '', '2. two'])
})

test('a very long paragraph is split without losing text', () => {
  const words = Array.from({ length: 20_000 }, (_, index) => `word${index}`)
  const pieces = words.map((line) => `${line} `)
  const { done, live } = stream(joinChunks(pieces, 50))
  assert.is(done.join(' ').split(/\s+/).filter(Boolean).join(' '), words.join(' '))
  assert.ok(live.every((lines) => lines.length < 400))
})

test('text that overflows the parser is rendered as plain text', () => {
  for (const text of ['>'.repeat(20_000), '['.repeat(5_000), `${'- '.repeat(3_000)}x`, '*'.repeat(9_999), '`'.repeat(10_001)])
    assert.ok(renderPlain(text, 40).length > 0)
})

function joinChunks(pieces: readonly string[], size: number): string[] {
  return Array.from({ length: Math.ceil(pieces.length / size) }, (_, index) => pieces.slice(index * size, (index + 1) * size).join(''))
}

test.run()
