import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { stripMarkdown } from '../../../daemon/models/embedded/split-blocks.ts'
import { splitSentences } from '../../../daemon/models/embedded/split-sentences.ts'

const test = suite('what can be quoted of a passage')
const texts = (content: string) => splitSentences(content).map(({ text }) => text)

test('marks of Markdown go; what is in words and in code stays', () => {
  assert.is(stripMarkdown('The **signing `secret_key`** (`whsec_…`) is _shown_ once'), 'The signing secret_key (whsec_…) is shown once')
  assert.is(stripMarkdown('snake_case_name, 2 * 3 * 4, `a*b*c`, \\_plain\\_'), 'snake_case_name, 2 * 3 * 4, a*b*c, _plain_')
  assert.is(stripMarkdown('See [the _guide_](guide.md) ![a picture](a.png)here'), 'See the guide here')
})

test('sentences, items and rows are quoted one by one, headings and heads of tables not at all', () => {
  const content =
    '# Doors\n\nDoors open at 8 a.m. sharp. See Fig. 2.\n\n- Ring\n  twice.\n- Wait.\n\n| Door | Key |\n|---|---|\n| north | `k_1` |\n'
  assert.equal(texts(content), ['Doors open at 8 a.m. sharp.', 'See Fig. 2.', 'Ring twice.', 'Wait.', 'north | k_1'])
})

test('a letter is an initial, unless a sentence begins behind it', () => {
  assert.equal(texts('J. R. Tolkien wrote it. Ask John F. Miller.'), ['J. R. Tolkien wrote it.', 'Ask John F. Miller.'])
  assert.equal(texts('Sammelpunkt ist Parkplatz B. Der Beauftragte ist Herr Köhler.'), [
    'Sammelpunkt ist Parkplatz B.',
    'Der Beauftragte ist Herr Köhler.',
  ])
  assert.equal(texts('Meet at car park B. The safety officer counts.'), ['Meet at car park B.', 'The safety officer counts.'])
})

test('a name in code may begin a sentence', () => {
  assert.equal(texts('The lamp is lit at dusk. `lamp off` puts it out.'), ['The lamp is lit at dusk.', 'lamp off puts it out.'])
})

test('a question is not quoted: it is what the next sentences stand under', () => {
  const [answer, ...rest] = splitSentences('# Lamps\n\n**Who lights them?** The warden does.')
  assert.is(answer?.text, 'The warden does.')
  assert.is(answer?.heading, 'Who lights them?')
  assert.is(rest.length, 0)
})

test('a long sentence is quoted in parts that end between words, with a mark where it goes on', () => {
  const clause = 'the keeper of the lighthouse climbs the stairs, looks at the sea'
  const parts = texts(`First ${Array.from({ length: 12 }, () => clause).join(' and then ')}.`)
  assert.ok(parts.length > 1)
  assert.ok(parts.every((part) => part.length <= 400))
  assert.match(parts[0] as string, /^First .* …$/)
  assert.match(parts.at(-1) as string, /^… .*sea\.$/)
  const words = new Set('First the keeper of lighthouse climbs stairs, looks at sea and then sea. …'.split(' '))
  assert.ok(parts.every((part) => part.split(' ').every((word) => words.has(word))))
})

test('long text without spaces is cut, too', () => {
  const parts = texts(`${'灯塔的看守人每天晚上爬上楼梯看海'.repeat(40)}。`)
  assert.ok(parts.length > 1 && parts.every((part) => part.length <= 400))
  assert.is(parts.map((part) => part.replaceAll(/… | …/g, '')).join(''), `${'灯塔的看守人每天晚上爬上楼梯看海'.repeat(40)}。`)
})

test('long code whose fences stand elsewhere is not quoted', () => {
  assert.equal(texts(Array.from({ length: 20 }, (_, at) => `lamp${at}/     what is in it: light, oil and so on`).join('\n')), [])
  assert.equal(texts(Array.from({ length: 20 }, (_, at) => `const lamp${at} = { lit: true, oil: [${at}] };`).join('\n')), [])
})

test('a line of code is known for a command where a comment says what it does', () => {
  const commands = (content: string) => splitSentences(content).flatMap(({ isCommand: command, text }) => (command ? [text] : []))
  assert.equal(commands('```sh\nlamp on    # lights the lamp\nlamp off\n# a remark of its own\n```'), ['lamp on # lights the lamp'])
  assert.equal(commands('```js\nlamp.on() # lights the lamp\n```'), [])
  assert.equal(commands('The lamp # lights the way'), [])
})

test('what a colon announces goes with its sentence, other code only with the paragraph above it', () => {
  const below = (content: string) => splitSentences(content).map(({ below }) => below?.raw)
  const code = '```sh\nlamp on\n```'
  assert.equal(below(`Oil it. Light it:\n\n${code}`), [code, code])
  assert.equal(
    splitSentences(`Oil it. Light it:\n\n${code}`).map(({ below }) => [below?.isAnnounced, below?.isOwned]),
    [
      [false, false],
      [true, true],
    ],
  )
  assert.equal(below(`Oil it. Light it.\n\n${code}`), [code, code])
  assert.equal(below(`Light it:\n\n${code.slice(0, -3)}`), [undefined])
  assert.equal(below('You need:\n\n- oil\n- a match\n\nGo.'), ['- oil\n- a match', undefined, undefined, undefined])
  assert.equal(below(`Light it:\n\n\`\`\`sh\n${'lamp on\n'.repeat(40)}\`\`\``), [undefined])
})

test('marks that nobody closes do not hold it up', () => {
  for (const mark of ['*', '_a', '__a', '`', '`a', '[', '[a](', '*a ', '| ', '- ', '-', '中', 'a', 'A b. ', '```\n'])
    assert.ok(
      texts(mark.repeat(20_000)).every((text) => text.length <= 400),
      mark,
    )
})

test.run()
