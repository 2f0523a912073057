import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { stripMarkdown } from '../../../daemon/models/embedded/split-blocks.ts'
import { splitSentences } from '../../../daemon/models/embedded/split-sentences.ts'

const test = suite('sentence splitting')
const splitTexts = (content: string) => splitSentences(content).map(({ text }) => text)

test('Markdown syntax is removed, except in words and code', () => {
  assert.is(stripMarkdown('The **signing `secret_key`** (`whsec_…`) is _shown_ once'), 'The signing secret_key (whsec_…) is shown once')
  assert.is(stripMarkdown('snake_case_name, 2 * 3 * 4, `a*b*c`, \\_plain\\_'), 'snake_case_name, 2 * 3 * 4, a*b*c, _plain_')
  assert.is(stripMarkdown('See [the _guide_](guide.md) ![a picture](a.png)here'), 'See the guide here')
})

test('sentences, list items and table rows are split; headings and table headers are omitted', () => {
  const content =
    '# Doors\n\nDoors open at 8 a.m. sharp. See Fig. 2.\n\n- Ring\n  twice.\n- Wait.\n\n| Door | Key |\n|---|---|\n| north | `k_1` |\n'
  assert.equal(splitTexts(content), ['Doors open at 8 a.m. sharp.', 'See Fig. 2.', 'Ring twice.', 'Wait.', 'north | k_1'])
})

test('a single letter is an initial, unless a sentence starts after it', () => {
  assert.equal(splitTexts('J. R. Tolkien wrote it. Ask John F. Miller.'), ['J. R. Tolkien wrote it.', 'Ask John F. Miller.'])
  assert.equal(splitTexts('Sammelpunkt ist Parkplatz B. Der Beauftragte ist Herr Köhler.'), [
    'Sammelpunkt ist Parkplatz B.',
    'Der Beauftragte ist Herr Köhler.',
  ])
  assert.equal(splitTexts('Meet at car park B. The safety officer counts.'), ['Meet at car park B.', 'The safety officer counts.'])
})

test('inline code can start a sentence', () => {
  assert.equal(splitTexts('The lamp is lit at dusk. `lamp off` puts it out.'), ['The lamp is lit at dusk.', 'lamp off puts it out.'])
})

test('a question is omitted and becomes the heading of the next sentences', () => {
  const [answer, ...rest] = splitSentences('# Lamps\n\n**Who lights them?** The warden does.')
  assert.is(answer?.text, 'The warden does.')
  assert.is(answer?.heading, 'Who lights them?')
  assert.is(rest.length, 0)
})

test('a long sentence is split between words into parts with an ellipsis', () => {
  const clause = 'the keeper of the lighthouse climbs the stairs, looks at the sea'
  const parts = splitTexts(`First ${Array.from({ length: 12 }, () => clause).join(' and then ')}.`)
  assert.ok(parts.length > 1)
  assert.ok(parts.every((part) => part.length <= 400))
  assert.match(parts[0] as string, /^First .* …$/)
  assert.match(parts.at(-1) as string, /^… .*sea\.$/)
  const words = new Set('First the keeper of lighthouse climbs stairs, looks at sea and then sea. …'.split(' '))
  assert.ok(parts.every((part) => part.split(' ').every((word) => words.has(word))))
})

test('long text without spaces is split too', () => {
  const parts = splitTexts(`${'灯塔的看守人每天晚上爬上楼梯看海'.repeat(40)}。`)
  assert.ok(parts.length > 1 && parts.every((part) => part.length <= 400))
  assert.is(parts.map((part) => part.replaceAll(/… | …/g, '')).join(''), `${'灯塔的看守人每天晚上爬上楼梯看海'.repeat(40)}。`)
})

test('long code whose fences are in other passages is omitted', () => {
  assert.equal(splitTexts(Array.from({ length: 20 }, (_, at) => `lamp${at}/     what is in it: light, oil and so on`).join('\n')), [])
  assert.equal(splitTexts(Array.from({ length: 20 }, (_, at) => `const lamp${at} = { lit: true, oil: [${at}] };`).join('\n')), [])
})

test('a line of shell code with a comment is a command', () => {
  const commands = (content: string) => splitSentences(content).flatMap(({ isCommand: command, text }) => (command ? [text] : []))
  assert.equal(commands('```sh\nlamp on    # lights the lamp\nlamp off\n# a remark of its own\n```'), ['lamp on # lights the lamp'])
  assert.equal(commands('```js\nlamp.on() # lights the lamp\n```'), [])
  assert.equal(commands('The lamp # lights the way'), [])
})

test('code and lists after a colon belong to the sentence, other code to the paragraph', () => {
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

test('unclosed Markdown syntax does not slow down splitting', () => {
  for (const mark of ['*', '_a', '__a', '`', '`a', '[', '[a](', '*a ', '| ', '- ', '-', '中', 'a', 'A b. ', '```\n'])
    assert.ok(
      splitTexts(mark.repeat(20_000)).every((text) => text.length <= 400),
      mark,
    )
})

test.run()
