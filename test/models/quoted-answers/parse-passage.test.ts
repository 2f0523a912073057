import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { stripMarkdown } from '../../../daemon/language/parse-markdown.ts'
import { parseBlocks, parseParts } from '../../../daemon/models/quoted-answers/parse-passage.ts'

const test = suite('parts of a passage')
const splitTexts = (content: string, source?: string) =>
  parseParts(content, parseBlocks(content, source)).map(({ start, end }) => content.slice(start, end))

test('Markdown syntax and HTML tags are removed, except in words and code', () => {
  assert.is(stripMarkdown('The **signing `secret_key`** (`whsec_…`) is _shown_ once'), 'The signing secret_key (whsec_…) is shown once')
  assert.is(stripMarkdown('snake_case_name, 2 * 3 * 4, `a*b*c`, \\_plain\\_'), 'snake_case_name, 2 * 3 * 4, a*b*c, _plain_')
  assert.is(stripMarkdown('See [the _guide_](guide.md) ![a picture](a.png)here'), 'See the guide here')
  assert.is(stripMarkdown('<a name="x"></a>Use `Array<string>` if a < b and c > d'), 'Use Array<string> if a < b and c > d')
})

test('sentences, list items, rows, headings and code are parts with their exact text', () => {
  const content =
    '# Doors\n\nDoors open at 8 a.m. sharp. See\nFig. 2.\n\n- Ring\n  twice.\n- [ ] Wait.\n\n' +
    '| Door | Key |\n|---|---|\n| north | `k_1` |\n\n```sh\nopen\n```'
  assert.equal(splitTexts(content), [
    '# Doors',
    'Doors open at 8 a.m. sharp.',
    'See\nFig. 2.',
    'Ring\n  twice.',
    'Wait.',
    '| Door | Key |\n|---|---|',
    '| north | `k_1` |',
    '```sh\nopen\n```',
  ])
})

test('lines of "name: value" are a record, but not sentences with code', () => {
  const getKinds = (content: string) => parseBlocks(content).map(({ kind }) => kind)
  assert.equal(getKinds('name: Lamp\nprice (net): 30\n\nname: Chair\nprice (net): 80'), ['record', 'record'])
  assert.equal(getKinds("It listens on `port: 0`, which is any\nport, and on `host: 'localhost'`."), ['text'])
})

test('of a note, each line of "name: text" says something alone, but not of a mail, data or columns that others have', () => {
  const content = 'Error F20 means: the filter is clogged.\nClean it.\nHotline: 0800 330 1000'
  assert.equal(splitTexts(content, 'notes.txt'), ['Error F20 means: the filter is clogged.\nClean it.', 'Hotline: 0800 330 1000'])
  assert.equal(splitTexts('From: Ann\nDate: Friday', 'offer.md'), ['From: Ann\nDate: Friday'])
  for (const source of ['lamps.csv', 'ann.vcf', 'a.eml']) assert.equal(splitTexts(content, source), [content])
  const people = 'Name: Ann\nRole: chair\n\nName: Ben\nRole: clerk'
  assert.equal(splitTexts(people, 'people.txt'), people.split('\n\n'))
})

test('a single letter is an initial, unless a sentence starts after it', () => {
  assert.equal(splitTexts('J. R. Tolkien wrote it. Ask John F. Miller.'), ['J. R. Tolkien wrote it.', 'Ask John F. Miller.'])
  assert.equal(splitTexts('Sammelpunkt ist Parkplatz B. Der Beauftragte ist Herr Köhler.'), [
    'Sammelpunkt ist Parkplatz B.',
    'Der Beauftragte ist Herr Köhler.',
  ])
})

test('"no." before a code is an abbreviation', () => {
  assert.equal(splitTexts('It is sold separately (part no. BR-417). The answer is no. Ask again.'), [
    'It is sold separately (part no. BR-417).',
    'The answer is no.',
    'Ask again.',
  ])
})

test('inline code can start a sentence', () => {
  assert.equal(splitTexts('The lamp is lit at dusk. `lamp off` puts it out.'), ['The lamp is lit at dusk.', '`lamp off` puts it out.'])
})

test('code whose opening fence is in another passage is code', () => {
  const blocks = parseBlocks('lamp on\n\nlamp off\n```\nThe lamp is out.')
  assert.equal(
    blocks.map(({ kind, isComplete }) => [kind, isComplete]),
    [
      ['code', false],
      ['text', true],
    ],
  )
})

test('code that a passage cuts at both ends is code', () => {
  const blocks = parseBlocks('lamp on\n```\n\nThe lamp is out.\n\n```js\nlamp.off()')
  assert.equal(
    blocks.map(({ kind }) => kind),
    ['code', 'text', 'code'],
  )
  assert.equal(
    parseBlocks('```\n\nThe lamp is out.').map(({ kind }) => kind),
    ['code', 'text'],
  )
  assert.equal(
    parseBlocks('Run it:\n```\nlamp on\n```\nThen:\n```js\nlamp.off()').map(({ kind }) => kind),
    ['text', 'code', 'text', 'code'],
  )
})

test('10,000 unclosed marks of Markdown are parsed', () => {
  for (const mark of ['*', '_a', '__a', '`', '`a', '[', '[a](', '*a ', '| ', '- ', '-', '中', 'a', 'A b. ', '```\n', '<a ', '<']) {
    for (const text of splitTexts(mark.repeat(10_000))) assert.ok(stripMarkdown(text).length <= text.length, mark)
  }
})

test.run()
