/** Messages wrap between words to fit the terminal; commands, addresses and paths are never broken. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { sanitizeText, stringWidth } from '../../../src/cli/terminal/text.ts'
import { wrapForStream, wrapSentences } from '../../../src/cli/terminal/wrap-sentences.ts'

const test = suite('wrapped messages')
const BOLD = '\u001b[1m'
const PLAIN = '\u001b[22m'

test('wrapping keeps every word at every width', () => {
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

test('commands are never wrapped', () => {
  const told = wrapSentences(`Name one: cadre ask Helper "…". To ask it always: ${BOLD}cadre config set agent Helper${PLAIN}`, 24)
  assert.is(told, `Name one:\ncadre ask Helper "…". To\nask it always:\n${BOLD}cadre config set agent Helper${PLAIN}`)
})

test('addresses and paths are never wrapped', () => {
  assert.is(
    wrapSentences('Started the Cadre daemon at http://127.0.0.1:7411/api', 24),
    'Started the Cadre daemon\nat\nhttp://127.0.0.1:7411/api',
  )
})

test('continuation lines keep the indentation', () => {
  assert.is(wrapSentences('  leave.md: The document is empty.', 24), '  leave.md: The document\n  is empty.')
  assert.is(wrapSentences('✓ embedding the embedded model is complete', 30, 12), '✓ embedding the embedded model\n            is complete')
  assert.is(
    wrapSentences('✓ home      /tmp/home (created at the first start)', 40, 12),
    '✓ home      /tmp/home (created at the\n            first start)',
  )
})

test('lines are not wrapped without a terminal', () => {
  const text = 'word '.repeat(100)
  assert.is(wrapForStream(text, { isTTY: false, columns: 20 } as NodeJS.WriteStream), text)
  assert.is.not(wrapForStream(text, { isTTY: true, columns: 20 } as NodeJS.WriteStream), text)
})

test.run()
