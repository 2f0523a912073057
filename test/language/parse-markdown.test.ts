/** The blocks of Markdown, by which documents are divided and answers quoted. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { parseMarkdown } from '../../daemon/language/parse-markdown.ts'

const test = suite('blocks of Markdown')

const parse = (text: string, options = {}) =>
  parseMarkdown(text, options).map(({ kind, start, end }): [string, string] => [kind, text.slice(start, end)])
const parseKinds = (text: string) => parseMarkdown(text).map(({ kind }) => kind)

test('headings have a level and a title, whether marked, underlined or in HTML', () => {
  const text = '## Leave ##\n\nTravel\n======\n\n<h3 align="center">Pay</h3>\n\n# \n#hashtag'
  const headings = parseMarkdown(text).filter(({ kind }) => kind === 'heading')
  assert.equal(
    headings.map(({ level, title }) => [level, title]),
    [
      [2, 'Leave'],
      [1, 'Travel'],
      [3, 'Pay'],
      [1, ''],
    ],
  )
})

test('comments of a script right below each other are text', () => {
  assert.equal(parseKinds('# The port.\n# It must be free.\nport 1'), ['text'])
  assert.equal(parseKinds('# Handbook\n## Leave\nThirty days.'), ['heading', 'heading', 'text'])
})

test('code ends with a fence as long as its first one, and may be part of an item', () => {
  const code = '````md\n```\n# a\n```\n````'
  assert.equal(parse(`Text:\n${code}\nmore`), [
    ['text', 'Text:'],
    ['code', code],
    ['text', 'more'],
  ])
  assert.equal(parseKinds('1. Run\n\n     ```sh\n     # a\n     ```\n2. Wait'), ['item', 'code', 'item'])
  assert.equal(parseKinds('```code``` in text\nand more'), ['text'])
})

test('code is complete if it has both fences', () => {
  const isComplete = (text: string, options = {}) => parseMarkdown(text, options).map((block) => block.isComplete)
  assert.equal(isComplete('```sh\na\n```'), [true])
  assert.equal(isComplete('```sh\na'), [false])
  assert.equal(isComplete('a\n~~~\ntext', { startsInCode: true }), [false, true])
})

test('the header of a table includes its delimiter row; outer pipes are optional', () => {
  assert.equal(parse('| a | b |\n|---|---|\n| 1 | 2 |\ntext'), [
    ['row', '| a | b |\n|---|---|'],
    ['row', '| 1 | 2 |'],
    ['text', 'text'],
  ])
  assert.equal(parseKinds('a | b\n--|--\n1 | 2'), ['row', 'row'])
  assert.equal(parseKinds('either a | b'), ['text'])
})

test('an option at the start of a line is no item in the middle of a sentence', () => {
  assert.equal(parse('Pass\n--json for JSON, or\n--csv.\n\nOptions:\n--json  JSON\n--csv  CSV'), [
    ['text', 'Pass\n--json for JSON, or\n--csv.'],
    ['text', 'Options:'],
    ['item', '--json  JSON'],
    ['item', '--csv  CSV'],
  ])
  assert.equal(parse('Options\n--json  JSON').at(-1), ['item', '--json  JSON'])
})

test('items, options of a command, rules, front matter and HTML are blocks', () => {
  assert.equal(parseKinds('---\ntitle: x\n---\n\n- a\n  b\n* c\n\n***\n\n-j, --json  JSON\n\n<pre>\n# a\n\nb</pre>\nc'), [
    'frontMatter',
    'item',
    'item',
    'rule',
    'item',
    'html',
    'text',
  ])
})

test('a block ends at a break', () => {
  assert.equal(parse('one\ntwo', { breaks: [4] }), [
    ['text', 'one'],
    ['text', 'two'],
  ])
})

test.run()
