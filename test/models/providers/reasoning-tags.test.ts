import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { ReasoningTagParser } from '../../../daemon/models/providers/reasoning-tags.ts'
import { ScriptedProvider, streamReply } from '../../harness/scripted-provider.ts'
import { collectParts, KEY, ProviderFixture } from './provider-fixture.ts'

const test = suite('reasoning between tags')

/** Returns the text and the reasoning of a reply that arrives in pieces of this length. */
function parse(reply: string, length: number): [text: string, reasoning: string] {
  const parser = new ReasoningTagParser()
  const pieces = Array.from({ length: Math.ceil(reply.length / length) }, (_, index) => reply.slice(index * length, (index + 1) * length))
  const parts = [...pieces.flatMap((text) => parser.parse({ type: 'text', text })), ...parser.flush()]
  const join = (type: string) => parts.map((part) => (part.type === type && 'text' in part ? part.text : '')).join('')
  return [join('text'), join('reasoning')]
}

const FENCED = '```html\n<think>not reasoning</think>\n```\n<thinking>but this</thinking>\nDone.'

const REPLIES: Record<string, [text: string, reasoning: string]> = {
  '<think>\nI greet.\n\nBriefly.\n</think>\n\nGood morning.\n': ['Good morning.\n', 'I greet.\n\nBriefly.'],
  '\n <THINKING>İ a < b </think </thinking>Yes': ['Yes', 'İ a < b </think'],
  '<think>\n\n</think>\n\nNo reasoning.': ['No reasoning.', ''],
  'First.\n\n<think>Hm.</think>\n\nSecond.': ['First.\n\nSecond.', 'Hm.'],
  '<think>a</think><think>b</think>c': ['c', 'ab'],
  '<think>cut off by the limit </thi': ['', 'cut off by the limit </thi'],
  'The tag <think>is text</think> here, as in `<think>`.': ['The tag <think>is text</think> here, as in `<think>`.', ''],
  '<thinker>x</thinker> <': ['<thinker>x</thinker> <', ''],
  [FENCED]: ['```html\n<think>not reasoning</think>\n```\nDone.', 'but this'],
  '  \n\n  Indented ~~~ `code`\n': ['  \n\n  Indented ~~~ `code`\n', ''],
}

test('reasoning is separated from the text, however the reply is split', () => {
  for (const [reply, expected] of Object.entries(REPLIES))
    for (const length of [1, 2, 3, 5, 7, 11, 1000]) assert.equal(parse(reply, length), expected, `${JSON.stringify(reply)} by ${length}`)
})

test('white space without end is not held back', () => {
  for (const start of ['', 'x\n', '<think>x']) {
    const parser = new ReasoningTagParser()
    parser.parse({ type: 'text', text: start })
    const parts = Array.from({ length: 300 }, () => parser.parse({ type: 'text', text: ' ' })).flat()
    assert.ok(parts.length > 2, JSON.stringify(start))
  }
})

test('models of all providers return reasoning between tags as reasoning, without the API key', async () => {
  const fixture = new ProviderFixture()
  for (const format of ['openai', 'anthropic', 'google'] as const) {
    const text = ['<th', `ink>The key is ${KEY.slice(0, 9)}`, `${KEY.slice(9)}.</thi`, 'nk>\n\nGood', ' morning.']
    const provider = await ScriptedProvider.start(format, streamReply({ text }))
    const parts = await collectParts(fixture.getModel(provider))
    const join = (type: string) => parts.map((part) => (part.type === type && 'text' in part ? part.text : '')).join('')
    assert.is(join('text'), 'Good morning.', format)
    assert.match(join('reasoning'), /^The key is (?!.*ZQXJ).*\.$/, format)
    assert.is(parts.at(-1)?.type, 'end')
    await provider.close()
  }
  await fixture.close()
})

test.run()
