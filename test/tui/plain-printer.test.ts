/** What the plain chat prints while a reply arrives. */
import { PassThrough } from 'node:stream'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { PlainPrinter } from '../../src/tui/plain-printer.ts'
import { ChatStore } from '../../src/tui/state/chat-store.ts'
import type { TranscriptAction } from '../../src/tui/state/transcript-reducer.ts'
import { call, delta, end, printActions, result, said, VIEW } from './render/transcript-fixture.ts'

const test = suite('plain printer')
const reasoning = (text: string): TranscriptAction => ({ kind: 'event', at: 0, event: { event: 'reasoning_delta', data: { text } } })

/** Returns what each action prints. */
function printEach(...actions: TranscriptAction[]): string[] {
  const output = new PassThrough({ encoding: 'utf8' })
  const printer = new PlainPrinter({ output, isEchoed: true, describeConfirmation: ({ name }) => `Allow ${name}?` })
  const store = new ChatStore(() => printer.print(store.state))
  return [said, ...actions]
    .map((action) => {
      store.dispatch(action)
      return output.read() ?? ''
    })
    .slice(1)
}

test('an item of a list is printed when the next one starts', () => {
  assert.equal(
    printEach(
      delta('Fruit:\n\n- apple'),
      delta('\n- pe'),
      delta('ar\n  - green'),
      delta('\n  - red'),
      delta('\n- fig'),
      end({ content: 'Fruit:\n\n- apple\n- pear\n  - green\n  - red\n- fig' }),
    ),
    ['  Fruit:\n', '\n  • apple\n', '  • pear\n', '    ◦ green\n', '    ◦ red\n', '  • fig\n\n'],
  )
})

test('a sentence of a paragraph is printed when the next one starts, on the same line', () => {
  const content = 'The first one. The **second** one! A third'
  assert.equal(printEach(delta('The first one.'), delta(' The **sec'), delta('ond** one! A'), delta(' third'), end({ content })), [
    '',
    '  The first one.',
    ' The second one!',
    '',
    ' A third\n\n',
  ])
})

test('a sentence waits for the end of its emphasis', () => {
  assert.equal(printEach(delta('**Stop here. Go'), delta(' on.** Then'), end({ content: '**Stop here. Go on.** Then' })), [
    '',
    '  Stop here. Go on.',
    ' Then\n\n',
  ])
})

test('lines of code are printed one by one, and tables when they are complete', () => {
  const table = '| a | b |\n| --- | --- |\n| 1 | 2 |\n'
  const [first, ...more] = printEach(delta('```\none\ntw'), delta('o\n```\n'), ...Array.from(table, delta), delta('\nDone. Next'))
  assert.equal([first, more[0]], ['    one\n', '    two\n'])
  assert.equal(more.slice(1, -1).join(''), '')
  assert.match(more.at(-1) ?? '', /a.*b[\s\S]*1.*2\n\n {2}Done\.$/)
})

test('reasoning is announced once per reply', () => {
  assert.equal(printEach(reasoning('Hm'), reasoning(', well'), call('c1'), result('c1'), reasoning('So'), delta('Yes. No')), [
    '  Thinking…\n',
    '',
    '\n',
    '  ✓ search query: leave · 0.3 s\n',
    '\n',
    '\n  Yes.',
  ])
})

test('other output starts on its own line, and the sentence continues after it', () => {
  const ended: TranscriptAction = { kind: 'ended', status: 'aborted' }
  assert.equal(printEach(delta('One thing. Ano'), ended), ['  One thing.', ' Ano\n\n  ■ stopped\n\n'])
  const asks: TranscriptAction = {
    kind: 'event',
    at: 0,
    event: { event: 'confirmation_required', data: { id: 'c', name: 'rm', arguments: {} } },
  }
  assert.equal(printEach(delta('One thing. Ano'), asks), ['  One thing.', ' Ano\n\nAllow rm?\n'])
})

test('the text is the same for any size of its pieces', () => {
  const content = [
    '# Title\n\nA first sentence. A **bold. one** [1], e.g. with `code. x` and 3 * 4. End',
    'of the paragraph: yes. No\n\n1. one. 1\n2. two\n\n   more. text',
    '3. three\n   - nested *a. b*\n\n4. four\n5. five\n6. six\n7. seven\n8. eight\n9. nine. 9\n10. ten. 10\n\nHead',
    '---\n> quote. One\n>\n> - a\n>\n> - b\n\n```js\nlet a = 1. + 2\n}\n```\na | b',
    '--- | ---\n1. x | 2\n\n---\n\n[1]\n\n- x\n- x\n\n- x\n\nEnd. 終わり。さ',
  ].join('\n')
  const expected = printActions([said, end({ content })], { ...VIEW, columns: 2000 }).done.slice(2)
  const squeeze = (text: string) => text.replace(/^\s+/gm, '').replace(/\n+/g, '\n')
  for (const size of [1, 2, 3, 5, 7, 11, 40, 500]) {
    const pieces = Array.from({ length: Math.ceil(content.length / size) }, (_, index) => content.slice(index * size, (index + 1) * size))
    const printed = printEach(...pieces.map(delta), end({ content })).join('')
    assert.is(squeeze(printed), squeeze(`${expected.join('\n')}\n`), `pieces of ${size} characters`)
  }
})

test.run()
