import fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { generatePassages } from '../../../daemon/knowledge/chunking/chunk-document.ts'
import type { ChunkingSettings } from '../../../daemon/knowledge/chunking/chunking-settings.ts'
import type { ParsedDocument } from '../../../daemon/knowledge/readers/parsed-document.ts'

const test = suite('chunking')

const document = (text: string, format: ParsedDocument['format'] = 'markdown', pages: ParsedDocument['pages'] = []): ParsedDocument => ({
  text,
  format,
  pages,
  title: null,
})
const chunk = (text: string, size: number, overlap = 0, format: ParsedDocument['format'] = 'markdown') => [
  ...generatePassages(document(text, format), { size, overlap }),
]
const contents = (text: string, size: number, overlap = 0, format: ParsedDocument['format'] = 'markdown') =>
  chunk(text, size, overlap, format).map(({ content }) => content)

const piece = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.constantFrom(
      'word ',
      'Sentence ends. ',
      'And another one! ',
      '\n',
      '\n\n',
      '# Title\n',
      '### Deep\n\n',
      '- item\n',
      '1. first\n',
      '| a | b |\n',
      '```\n',
      '    ',
      'x = 1\n',
      '}\n',
      '中文句子。',
      '😀',
      'e\u0301',
      '---\n',
    ),
  },
  { weight: 2, arbitrary: fc.string({ unit: 'grapheme', maxLength: 40 }) },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 900 }).map((length) => 'x'.repeat(length)) },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 300 }).map((length) => ' '.repeat(length)) },
)
const texts = fc.array(piece, { maxLength: 120 }).map((parts) => parts.join('').replaceAll(/\r\n?/g, '\n'))
const formats = fc.constantFrom<ParsedDocument['format']>('markdown', 'plain', 'code', 'table')
const settings = fc
  .integer({ min: 50, max: 900 })
  .chain((size) => fc.record({ size: fc.constant(size), overlap: fc.integer({ min: 0, max: size - 1 }) }))
const paged = fc.tuple(texts, formats, fc.array(fc.nat(), { maxLength: 6 })).map(([text, format, places]) => {
  const starts = [...new Set(places.map((place) => place % (text.length + 1)))].filter((start) => start > 0).sort((a, b) => a - b)
  const pages = starts.length > 0 ? [0, ...starts].map((start, index) => ({ number: index + 1, start })) : []
  return document(text, format, pages)
})

function check(read: ParsedDocument, { size, overlap }: ChunkingSettings): void {
  const passages = [...generatePassages(read, { size, overlap })]
  const covered = new Uint8Array(read.text.length)
  for (const [index, { content, start, end, position, page, headings }] of passages.entries()) {
    assert.is(content, read.text.slice(start, end))
    assert.is(position, index)
    assert.ok(content.length > 0 && content.length <= size, `${content.length} characters of ${size}`)
    assert.not(/[\ud800-\udbff]$|^[\udc00-\udfff]/.test(content), 'half a character')
    assert.is(page, read.pages.findLast((one) => one.start <= start)?.number ?? 1)
    assert.ok(headings.every((heading) => heading !== ''))
    const previous = passages[index - 1]
    if (previous) {
      assert.ok(previous.end - start <= overlap, `${previous.end - start} characters overlap, ${overlap} are allowed`)
      assert.ok(start > previous.start && end > previous.end, 'passages go forward')
    }
    covered.fill(1, start, end)
  }
  for (let index = 0; index < covered.length; index++)
    if (!covered[index]) assert.match(read.text.charAt(index), /\s/, `no passage contains character ${index}`)
}

test('passages cover every character with exact spans and keep to size and overlap', () => {
  fc.assert(
    fc.property(paged, settings, (read, setting) => check(read, setting)),
    { numRuns: 300 },
  )
})

test('chunking is deterministic', () => {
  fc.assert(
    fc.property(paged, settings, (read, setting) =>
      assert.equal([...generatePassages(read, setting)], [...generatePassages(read, setting)]),
    ),
    { numRuns: 30 },
  )
})

test('a passage never ends with a heading', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 2, maxLength: 12 }), (lengths) => {
      const text = lengths.map((length, index) => `## Part ${index}\n\n${'word '.repeat(Math.ceil(length / 5))}end.`).join('\n\n')
      for (const content of contents(text, 300, 40)) assert.not.match(content, /## Part \d+$/)
    }),
  )
})

test('passages have the path of their headings', () => {
  const steps = `## Install\n\n${'Step one of many. '.repeat(20)}`
  const linux = `### Linux\n\n${'Use the package. '.repeat(20)}`
  const text = `# Manual\n\nIntro.\n\n${steps}\n\n${linux}\n\n## Usage\n\n${'Run it. '.repeat(40)}`
  const passages = chunk(text, 300)
  const under = (word: string) => passages.findLast(({ content }) => content.includes(word))?.headings
  assert.equal(under('Step one'), ['Manual', 'Install'])
  assert.equal(under('Use the package'), ['Manual', 'Install', 'Linux'])
  assert.equal(passages.at(-1)?.headings, ['Manual', 'Usage'])
})

test('front matter is text and not a heading', () => {
  const [first] = chunk('---\ntitle: Leave\n---\n\n# Days\n\nTwenty-five.', 200)
  assert.equal(first?.headings, ['Days'])
  assert.match(first?.content ?? '', /^---\ntitle: Leave\n---/)
})

test('setext headings and markup in headings are recognized', () => {
  const [first, second] = chunk(`Title\n=====\n\n${'a b. '.repeat(30)}\n\n## The \`code\` [link](http://x)\n\n${'c d. '.repeat(30)}`, 180)
  assert.equal(first?.headings, ['Title'])
  assert.equal(second?.headings, ['Title', 'The code link'])
})

test('the tokens of a passage start with those of headings it does not contain', () => {
  const [first, second] = chunk(`# Vacation\n\n${'Days are given. '.repeat(12)}\n\n${'More days follow. '.repeat(10)}`, 220)
  assert.is(first?.words.match(/vacation/g)?.length, 1)
  assert.match(second?.words ?? '', /^vacation more days/)
})

test('passages end with paragraphs and sentences', () => {
  const sentence = 'This is a sentence of about fifty characters, okay. '
  const passages = contents(`${sentence.repeat(4)}\n\n${sentence.repeat(4)}\n\n${sentence.repeat(4)}`, 300)
  assert.is(passages.length, 3)
  for (const content of passages) assert.match(content, /okay\.$/)
  for (const content of contents('Dr. Smith met Mr. Jones at 5 p.m. on No. 7 street. '.repeat(20), 120)) assert.match(content, /street\.$/)
})

test('Chinese passages end with sentences', () => {
  for (const content of contents('这是一个很短的中文句子。它后面还有一个句子！'.repeat(30), 100, 0, 'plain'))
    assert.match(content, /[。！]$/)
})

test('the overlap starts at a sentence if one fits, else at a word', () => {
  const passages = chunk('Short one here. Another short one. '.repeat(40), 200, 60, 'plain')
  for (const { content } of passages) assert.match(content, /^(Short|Another)/)
  assert.ok(passages.slice(1).every(({ start }, index) => start < (passages[index]?.end ?? 0)))
  for (const { content } of chunk(`${'endless words without any stop '.repeat(60)}`, 200, 60, 'plain'))
    assert.match(content, /^(endless|words|without|any|stop)\b/)
})

test('code blocks and definitions that fit are not split', () => {
  const block = `\`\`\`js\n${'call()\n'.repeat(30)}\`\`\``
  const passages = contents(`${'Some words of text. '.repeat(12)}\n\n${block}\n\nAfter.`, 300)
  assert.ok(passages.some((content) => content.includes(block)))
  const functions = Array.from({ length: 8 }, (_, index) => `function f${index}() {\n${'  step()\n'.repeat(8)}\n  return 1\n}`).join('\n\n')
  for (const content of contents(functions, 250, 0, 'code')) assert.match(content, /^function[\s\S]*\}$/)
})

test('rows that fit are not split, and a table header stays with its first row', () => {
  const table = `| Name | Days |\n| --- | --- |\n${Array.from({ length: 40 }, (_, index) => `| Kind ${index} | ${index} |`).join('\n')}`
  for (const content of contents(`${'Text before. '.repeat(14)}\n\n${table}`, 200)) {
    if (content.includes('|')) assert.match(content, /\|$/)
    if (content.includes('---')) assert.match(content, 'Kind 0')
  }
  const rows = Array.from({ length: 20 }, (_, index) => `name: Person ${index}\ncity: Somewhere ${index}`).join('\n\n')
  for (const content of contents(rows, 150, 30, 'table')) assert.match(content, /^name[\s\S]*city: Somewhere \d+$/)
})

test('passages end with pages, and small pages are joined', () => {
  const [one, two] = [`${'First page text. '.repeat(35)}`.trim(), `${'Second page text. '.repeat(30)}`.trim()]
  const passages = [
    ...generatePassages(
      document(`${one}\n\n${two}`, 'plain', [
        { number: 1, start: 0 },
        { number: 2, start: one.length + 2 },
      ]),
      { size: 800, overlap: 100 },
    ),
  ]
  assert.equal(
    passages.map(({ content, page }) => [content, page]),
    [
      [one, 1],
      [two, 2],
    ],
  )
  const small = [
    ...generatePassages(
      document('Tiny.\n\nAlso tiny.', 'plain', [
        { number: 1, start: 0 },
        { number: 2, start: 7 },
      ]),
      { size: 800, overlap: 100 },
    ),
  ]
  assert.equal(
    small.map(({ content, page }) => [content, page]),
    [['Tiny.\n\nAlso tiny.', 1]],
  )
})

test('200,000 characters on one line, or of repeated syntax, are chunked', () => {
  for (const line of ['word ', 'x', '. ', '....', '# ', '| a ', '中', '- a\n', '```\n', '"', 'a\n=\n'])
    for (const format of ['markdown', 'plain', 'code', 'table'] as const)
      assert.ok(chunk(line.repeat(200_000 / line.length), 800, 120, format).length > 10, `${JSON.stringify(line)} as ${format}`)
  for (const line of ['\n', ' ']) assert.equal(chunk(line.repeat(200_000), 800, 120, 'markdown'), [])
})

test.run()
