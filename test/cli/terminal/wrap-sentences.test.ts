/** What people are told fits their terminal: sentences are broken between words, and what is copied from them is not broken at all. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { sanitizeText, stringWidth } from '../../../src/cli/terminal/text.ts'
import { wrapForStream, wrapSentences } from '../../../src/cli/terminal/wrap-sentences.ts'

const test = suite('narration')
const BOLD = '\u001b[1m'
const PLAIN = '\u001b[22m'

test('words stay whole at every width, and none is lost', () => {
  const text = `${BOLD}handbook${PLAIN}: 12 documents, 340 passages indexed in 1.4 s; all of them can be found now.`
  for (const columns of [12, 20, 40, 79]) {
    const told = wrapSentences(text, columns)
    assert.ok(
      told.split('\n').every((line) => stringWidth(sanitizeText(line)) <= columns),
      told,
    )
    assert.is(told.replaceAll('\n', ' '), text)
  }
  assert.is(wrapSentences(text, 200), text)
})

test('a command is never broken: a line end would be pasted with it', () => {
  const told = wrapSentences(`Name one: cadre ask Helper "…". To ask it always: ${BOLD}cadre config set agent Helper${PLAIN}`, 24)
  assert.is(told, `Name one:\ncadre ask Helper "…". To\nask it always:\n${BOLD}cadre config set agent Helper${PLAIN}`)
})

test('an address or a path is not broken either', () => {
  assert.is(
    wrapSentences('Started the Cadre daemon at http://127.0.0.1:7411/api', 24),
    'Started the Cadre daemon\nat\nhttp://127.0.0.1:7411/api',
  )
})

test('what is indented goes on below itself, and columns keep their place', () => {
  assert.is(wrapSentences('  leave.md: The document is empty.', 24), '  leave.md: The document\n  is empty.')
  assert.is(wrapSentences('✓ embedding the embedded model is complete', 30, 12), '✓ embedding the embedded model\n            is complete')
  assert.is(
    wrapSentences('✓ home      /tmp/home (made at the first start)', 40, 12),
    '✓ home      /tmp/home (made at the first\n            start)',
  )
})

test('without a terminal every line stays as it is', () => {
  const text = 'word '.repeat(100)
  assert.is(wrapForStream(text, { isTTY: false, columns: 20 } as NodeJS.WriteStream), text)
  assert.is.not(wrapForStream(text, { isTTY: true, columns: 20 } as NodeJS.WriteStream), text)
})

test.run()
