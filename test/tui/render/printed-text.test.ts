/** Text that a resize has left in the scrollback and that is not drawn again. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { renderMarkdown } from '../../../src/cli/terminal/markdown/render-markdown.ts'
import { toPlainText } from '../../../src/cli/terminal/markdown/styled-text.ts'
import { addPrinted, NOTHING_PRINTED, omitPrinted } from '../../../src/tui/render/printed-text.ts'
import { insetLines } from '../../../src/tui/render/render-entry.ts'

const test = suite('printed text')

const MARKDOWN = `The **first** paragraph, "with quotes" (and brackets), is long enough to be wrapped; twice, even.

- One item of a list that is wrapped
- Second *item*, 語の幅が広い

\`\`\`js
const days = { paid: 25, unpaid: 5 }
}
\`\`\`

Last.`

const render = (columns: number) => insetLines(renderMarkdown(MARKDOWN, columns))
const countLetters = (texts: readonly string[]) => texts.join('').match(/[\p{L}\p{N}]/gu)?.length ?? 0

test('whatever the line after which it starts, the rest has all further letters and no others, for any width', () => {
  for (const before of [20, 34, 60])
    for (const after of [18, 34, 50, 100]) {
      const printed = render(before).map(toPlainText)
      for (let count = 0; count <= printed.length; count++) {
        const { rest, left } = omitPrinted(render(after), addPrinted(NOTHING_PRINTED, printed.slice(0, count)))
        const texts = rest.map(toPlainText)
        assert.is(
          countLetters(texts),
          countLetters(printed.slice(count)),
          `${before} to ${after}, after line ${count}:\n${texts.join('\n')}`,
        )
        assert.equal(left, NOTHING_PRINTED)
        assert.ok(printed[count - 1] !== '' || texts[0] !== '', 'no second empty line')
        assert.ok(
          texts.every((text) => text === '' || text.startsWith('  ')),
          'the margin is kept',
        )
      }
    }
})

test('the rest of a line starts with its next word', () => {
  const texts = (count: number) =>
    omitPrinted(render(100), addPrinted(NOTHING_PRINTED, render(34).map(toPlainText).slice(0, count))).rest.map(toPlainText)
  assert.is(texts(1)[0], '  (and brackets), is long enough to be wrapped; twice, even.')
  assert.is(texts(0)[0], '  The first paragraph, "with quotes" (and brackets), is long enough to be wrapped; twice, even.')
})

test('what is printed of a text that is still to come remains', () => {
  const { rest, left } = omitPrinted(render(50).slice(0, 1), { letters: 100, blankLines: 2 })
  assert.equal([rest, left.blankLines, left.letters < 100], [[], 2, true])
})

test.run()
