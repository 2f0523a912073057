/** Rendering of Markdown: blocks, width and hostile input. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { renderMarkdown } from '../../../../src/cli/terminal/markdown/render-markdown.ts'
import { toAnsi } from '../../../../src/cli/terminal/markdown/styled-text.ts'
import { stringWidth } from '../../../../src/cli/terminal/text.ts'
import { EVERYTHING, renderPlain, stream } from './markdown-fixture.ts'

const test = suite('markdown')

const renderColored = (text: string, columns = 60) => renderMarkdown(text, columns).map((line) => toAnsi(line, true))

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

test('text that overflows the parser is rendered as plain text', () => {
  for (const text of ['>'.repeat(20_000), '['.repeat(5_000), `${'- '.repeat(3_000)}x`, '*'.repeat(9_999), '`'.repeat(10_001)])
    assert.ok(renderPlain(text, 40).length > 0)
})

test.run()
