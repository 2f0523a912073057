/** Markdown that is streamed: the result does not depend on the chunks, and only the end of a block is live. */
import * as fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { INITIAL_STREAM, renderStream } from '../../../../src/cli/terminal/markdown/streaming-markdown.ts'
import { toPlainText } from '../../../../src/cli/terminal/markdown/styled-text.ts'
import { EVERYTHING, renderPlain, stream } from './markdown-fixture.ts'

const test = suite('streamed markdown')

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

test('a very long list item keeps its nesting, and the items after it theirs', () => {
  const words = 'word '.repeat(4_000).trim()
  const lines = Array.from({ length: 900 }, (_, line) => `line ${line} of it`).join('\n     ')
  const paragraphs = Array.from({ length: 900 }, (_, line) => `paragraph ${line}`).join('\n\n     ')
  const items = Array.from({ length: 900 }, (_, item) => `     - item ${item}`).join('\n')
  for (const long of [words, lines, paragraphs, `items\n${items}`]) {
    const text = `1. Outer\n   - First\n   - Long ${long}\n   - Third\n2. Next\n\nEnd.`
    const chunks = text.match(/.{1,97}/gs) as string[]
    const [whole, streamed] = [renderPlain(text), stream(chunks).done]
    const getIndents = (rendered: readonly string[]) => [...new Set(rendered.map((line) => line.search(/\S/)))]
    const getWords = (rendered: readonly string[]) => rendered.join(' ').split(/\s+/)
    assert.equal(getWords(streamed), getWords(whole))
    assert.equal(getIndents(streamed), getIndents(whole))
    assert.equal(streamed.slice(-4), whole.slice(-4))
  }
})

test('a very long paragraph is split without losing text', () => {
  const words = Array.from({ length: 20_000 }, (_, index) => `word${index}`)
  const pieces = words.map((line) => `${line} `)
  const { done, live } = stream(joinChunks(pieces, 50))
  assert.is(done.join(' ').split(/\s+/).filter(Boolean).join(' '), words.join(' '))
  assert.ok(live.every((lines) => lines.length < 400))
})

/** Random numbers cut a text into pieces. */
const cutText = (text: string, sizes: readonly number[]): string[] => {
  const pieces: string[] = []
  for (let [index, offset] = [0, 0]; offset < text.length; index++) {
    const size = sizes[index % sizes.length] ?? 1
    pieces.push(text.slice(offset, offset + size))
    offset += size
  }
  return pieces
}

/** Spaces at the end of a line are not visible. */
function assertSameLines(text: string, sizes: readonly number[], columns: number): void {
  const trim = (lines: readonly string[]) => lines.map((line) => line.trimEnd())
  assert.equal(trim(stream(cutText(text, sizes), columns).done), trim(renderPlain(text, columns)))
}

/** The same texts in every run. */
const RUNS = { numRuns: 200, seed: 1 }
const pieceSizes = fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 12 })
const widths = fc.integer({ min: 14, max: 110 })
const word = fc.constantFrom(
  'a',
  'of',
  'words',
  'wrapped',
  'considerably',
  'snake_case',
  'e.g.',
  '(so',
  'so)',
  '“quoted”',
  '2024',
  '3.5',
  '7.',
)
const phrase = fc.oneof(
  { arbitrary: word, weight: 12 },
  fc.constantFrom('**bold words**', '*one*', '`code with spaces`', '~~gone~~', '[a link](https://example.com/a)', 'https://example.com/x'),
  fc.constantFrom(
    '[1]',
    '[1] [2].',
    '2 * 3',
    '*',
    '`',
    '~5',
    '<b>',
    '&amp;',
    '\\*',
    '- x',
    '# x',
    '> x',
    '_u_',
    '日本語の幅が広い文字列、続き。',
    '**open words',
  ),
  fc.constantFrom('\n', '  \n'),
)
const paragraph = fc.array(phrase, { minLength: 1, maxLength: 90 }).map(
  (words) =>
    `${words
      .join(' ')
      .replaceAll(/ ?\n ?/g, '\n')
      .trim()}`,
)
const plainParagraph = fc.array(word, { minLength: 1, maxLength: 120 }).map((words) => `The ${words.join(' ')}`)

const item = fc.record({
  text: fc.array(fc.oneof({ arbitrary: word, weight: 6 }, fc.constantFrom('**bold**', '`code`', '[x] done')), {
    minLength: 1,
    maxLength: 14,
  }),
  more: fc.constantFrom(
    '',
    '',
    '',
    '\n  lazy',
    '\n\n    Second paragraph of it.',
    '\n    - nested\n    - twice',
    '\n\n    - apart\n',
    '\n    ```\n    code\n    ```',
  ),
  gap: fc.constantFrom('\n', '\n', '\n', '\n\n'),
})
const list = fc
  .record({
    items: fc.array(item, { minLength: 1, maxLength: 14 }),
    first: fc.integer({ min: 0, max: 98 }),
    kind: fc.constantFrom('-', '*', '.', ')', 'same'),
  })
  .map(({ items, first, kind }) =>
    items
      .map(({ text, more, gap }, index) => {
        const number = kind === 'same' ? '1.' : `${first + index}${kind}`
        return `${kind === '-' || kind === '*' ? kind : number} ${text.join(' ')}${more}${gap}`
      })
      .join('')
      .trimEnd(),
  )

test('paragraphs are the same for any chunks and any width', () => {
  fc.assert(
    fc.property(fc.oneof(paragraph, plainParagraph), pieceSizes, widths, (text, sizes, columns) => {
      assertSameLines(text, sizes, columns)
    }),
    RUNS,
  )
})

test('lists are the same for any chunks and any width', () => {
  fc.assert(
    fc.property(list, pieceSizes, widths, (text, sizes, columns) => {
      assertSameLines(text, sizes, columns)
    }),
    RUNS,
  )
})

test('blocks in sequence are the same for any chunks and any width', () => {
  const block = fc.oneof(
    plainParagraph,
    list,
    fc.constantFrom('# Title', '| a | b |\n|---|---|\n| 1 | 2 |', '```\ncode\n```', '> quote', '---'),
  )
  fc.assert(
    fc.property(fc.array(block, { minLength: 2, maxLength: 5 }), pieceSizes, widths, (blocks, sizes, columns) => {
      const text = blocks.join('\n\n')
      assertSameLines(text, sizes, columns)
    }),
    RUNS,
  )
})

test('only the last lines of a paragraph are live', () => {
  const text = Array.from({ length: 200 }, (_, index) => (index % 9 === 4 ? `**bold${index} words** [${index}]` : `R&D${index}`)).join(' ')
  for (const columns of [20, 40, 100])
    for (const lines of stream(cutText(text, [7]), columns).live) assert.ok(lines.length <= 6, `${columns}: ${lines.join('\n')}`)
})

test('only the last lines of text without spaces are live', () => {
  const text = '日本語のテキストは空白なしで折り返されます。'.repeat(20)
  for (const lines of stream(cutText(text, [7]), 40).live) assert.ok(lines.length <= 5, lines.join('\n'))
})

test('lines of a paragraph wait for the end of their markup', () => {
  const open = `This **bold text ${'goes on '.repeat(40)}`
  const { live } = stream([open, 'and ends** here.'], 40)
  assert.ok((live[0]?.length ?? 0) > 7)
  assert.equal(stream([open, 'and ends** here.'], 40).done, renderPlain(`${open}and ends** here.`, 40))
})

test('items with the same text have different numbers', () => {
  assert.equal(stream(['1. same\n1. same\n'], 40).live[0], ['2. same'])
})

test('a list may start at 0', () => {
  assert.equal(renderPlain('0. none\n1. one', 40), ['0. none', '1. one'])
})

test('an item of a list is final when the next one starts', () => {
  const { live } = stream(['1. one\n', '1. two\n', '   - nested\n', '1. ', 'three\n\n', '1. four', '\n\nEnd'], 40)
  assert.equal(live.slice(0, 7), [
    ['1. one'],
    ['2. two'],
    ['2. two', '   ◦ nested'],
    ['2. two', '   ◦ nested', '3. '],
    ['3. three'],
    ['', '4. four'],
    ['', 'End'],
  ])
})

test('neither numbers nor empty lines of a list depend on later items', () => {
  assert.equal(renderPlain('9. nine\n10. ten\n\n11. eleven\n    - nested'), ['9. nine', '10. ten', '', '11. eleven', '    ◦ nested'])
  assert.equal(renderPlain('- one\n\n  more\n- two'), ['• one', '  ', '  more', '• two'])
})

function joinChunks(pieces: readonly string[], size: number): string[] {
  return Array.from({ length: Math.ceil(pieces.length / size) }, (_, index) => pieces.slice(index * size, (index + 1) * size).join(''))
}

test.run()
