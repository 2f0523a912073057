/** Streamed Markdown on a terminal, as `ask` prints it: the screen does not depend on how the text is split. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { formatProse, StreamSanitizer } from '../../../../src/cli/terminal/format-prose.ts'
import { MarkdownPrinter } from '../../../../src/cli/terminal/markdown/markdown-printer.ts'
import { TerminalEmulator } from '../../../harness/terminal-emulator.ts'
import { EVERYTHING } from './markdown-fixture.ts'

const test = suite('printed markdown')

const createOutput = (columns: number, rows = 60) => ({ columns, stream: { isTTY: true, rows } as NodeJS.WriteStream })

/** Returns the lines on the screen after each piece, and at the end. */
function print(pieces: readonly string[], columns: number, rows = 60): string[] {
  const terminal = new TerminalEmulator(columns, rows)
  const printer = new MarkdownPrinter(() => createOutput(columns, rows))
  const read = () => [...terminal.history, terminal.screen].join('\n').trimEnd()
  const screens = pieces.map((piece) => {
    terminal.write(printer.push(piece))
    return read()
  })
  terminal.write(printer.end())
  return [...screens, read()]
}

const withoutColors = (text: string) => text.replaceAll(/\u001b\[[\d;]*m/g, '')
const formatPlain = (text: string, columns: number) => withoutColors(formatProse(text, createOutput(columns)))

/** All ways to split a text in two, and into single characters. */
const split = (text: string) => [...Array.from(text, (_, at) => [text.slice(0, at), text.slice(at)]), text.split('')]

const sanitize = (...pieces: string[]) => {
  const text = new StreamSanitizer()
  return pieces.map((piece) => text.push(piece)).join('') + text.end()
}

test('the screen at the end does not depend on the pieces or on the height of the window', () => {
  for (const columns of [40, 80, 200]) {
    const expected = formatPlain(EVERYTHING, columns)
    assert.is(print([EVERYTHING], columns).at(-1), expected)
    assert.is(print(EVERYTHING.split(''), columns).at(-1), expected)
    assert.is(print(EVERYTHING.match(/.{1,7}/gs) ?? [], columns, 5).at(-1), expected, 'in a low window')
  }
})

test('text is shown as it arrives', () => {
  assert.equal(print(['Every emp', 'loyee g', 'ets **25', ' days** of'], 40), [
    'Every emp',
    'Every employee g',
    'Every employee gets **25',
    'Every employee gets 25 days of',
    'Every employee gets 25 days of',
  ])
})

test('a terminal that cannot redraw shows lines when they are final', () => {
  const printer = new MarkdownPrinter(() => ({ columns: 40, stream: { isTTY: false } as NodeJS.WriteStream }))
  assert.equal([printer.push('# Title\n\nEvery emp'), printer.push('loyee'), printer.end()].map(withoutColors), [
    'Title\n',
    '',
    '\nEvery employee\n',
  ])
})

test('code and addresses are not broken, so that they can be copied', () => {
  const command = 'cadre knowledge add ./handbook --name "Handbook of the north wing"'
  const text = `See https://example.com/a/very/long/path/to/a/page now\n\n\`\`\`sh\n${command}\n\`\`\``
  assert.is(formatPlain(text, 20), `See\nhttps://example.com/a/very/long/path/to/a/page\nnow\n\n  ${command}`)
  const terminal = new TerminalEmulator(20, 30)
  const printer = new MarkdownPrinter(() => createOutput(20, 30))
  for (const piece of text) terminal.write(printer.push(piece))
  terminal.write(printer.end())
  assert.is(terminal.screen.replaceAll('\n', '').match(/wing/g)?.length, 1, 'wrapped lines are erased as a whole')
})

test('other output can follow, and the next text starts on a new line', () => {
  const printer = new MarkdownPrinter(() => createOutput(40))
  const out = [printer.push('They are taken wit'), printer.end(), printer.end(), printer.push('and then'), printer.end()]
  assert.equal(out, ['They are taken wit', '\r\u001b[JThey are taken wit\n', '', 'and then', '\r\u001b[Jand then\n'])
})

test('an escape sequence is removed wherever it is split', () => {
  const text = 'a\u001b[31mred\u001b[0m \u001b]0;title\u0007b\u001b]8;;http://x\u001b\\link\u001b]8;;\u001b\\ \u009b31mc\r\nd\u202e.'
  for (const pieces of split(text)) {
    assert.is(sanitize(...pieces), 'ared blink 31mc\nd.', JSON.stringify(pieces))
    assert.is(print(pieces, 40).at(-1), 'ared blink 31mc\nd.', JSON.stringify(pieces))
  }
})

test('no output contains an escape character, even for unterminated sequences', () => {
  assert.not.match(sanitize('\u001b]0;', 'x'.repeat(5000), '\u001b', '[2J', '\u001bP', 'y', '\u001b'), '\u001b')
})

test('a split surrogate pair is joined', () => {
  assert.is(sanitize('🧭'.slice(0, 1), `${'🧭'.slice(1)}!`), '🧭!')
  assert.is(print(['🧭'.slice(0, 1), `${'🧭'.slice(1)}!`], 40).at(-1), '🧭!')
})

test.run()
