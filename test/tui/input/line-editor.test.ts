/** Key decoder, editor, layout and history. */
import * as fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { splitGraphemes, stringWidth } from '../../../src/cli/terminal/text.ts'
import { type Key, KeyDecoder } from '../../../src/tui/input/key-decoder.ts'
import { clearAndRemember, type Editor, EMPTY_EDITOR, setText } from '../../../src/tui/input/line-editor.ts'
import { applyKey } from '../../../src/tui/input/line-editor-keys.ts'
import { getVisibleRows, layOutText } from '../../../src/tui/input/line-editor-layout.ts'

const test = suite('editor')

const ESC = '\u001b'
const [LEFT, RIGHT, UP, DOWN, HOME, END, DELETE] = ['[D', '[C', '[A', '[B', '[H', '[F', '[3~'].map((rest) => ESC + rest) as [
  string,
  string,
  string,
  string,
  string,
  string,
  string,
]

function decodeKeys(...chunks: string[]): Key[] {
  const decoder = new KeyDecoder()
  return [...chunks.flatMap((chunk) => decoder.push(chunk)), ...decoder.flush()]
}

const formatKeys = (...chunks: string[]) =>
  decodeKeys(...chunks).map(
    ({ name, text, ctrl, alt, shift }) => `${ctrl ? 'ctrl+' : ''}${alt ? 'alt+' : ''}${shift ? 'shift+' : ''}${name}${text && `:${text}`}`,
  )

/** The text after these bytes, with | for the cursor. */
function typed(bytes: string, { from = EMPTY_EDITOR, columns = 40 }: { from?: Editor; columns?: number } = {}): string {
  const { text, cursor } = after(bytes, from, columns)
  return `${text.slice(0, cursor)}|${text.slice(cursor)}`
}

function after(bytes: string, from: Editor = EMPTY_EDITOR, columns = 40): Editor {
  return decodeKeys(bytes).reduce((editor, key) => applyKey(editor, key, columns) ?? editor, from)
}

test('the key decoder recognizes the sequences of common terminals', () => {
  assert.equal(formatKeys('a日👍'), ['text:a日👍'])
  assert.equal(formatKeys('\r', '\n', '\t', '\u007f', '\u0008'), ['enter', 'newline', 'tab', 'backspace', 'backspace'])
  assert.equal(formatKeys('\u0001', '\u0003', '\u001f', '\u0000'), ['ctrl+text:a', 'ctrl+text:c', 'ctrl+text:_', 'ctrl+text: '])
  assert.equal(formatKeys(UP, `${ESC}OB`, `${ESC}[1;5C`, `${ESC}[1;3D`, `${ESC}OH`, `${ESC}[4~`), [
    'up',
    'down',
    'ctrl+right',
    'alt+left',
    'home',
    'end',
  ])
  assert.equal(formatKeys(`${ESC}b`, `${ESC}\r`, `${ESC}\u007f`, `${ESC}[Z`), ['alt+text:b', 'alt+enter', 'alt+backspace', 'shift+tab'])
})

test('Shift+Enter is recognized in both encodings', () => {
  assert.equal(formatKeys(`${ESC}[13;2u`, `${ESC}[27;2;13~`), ['shift+enter', 'shift+enter'])
  assert.equal(formatKeys(`${ESC}[27u`, `${ESC}[99;5u`, `${ESC}[97;1:3u`, `${ESC}[57441;2u`), ['escape', 'ctrl+text:c'])
})

test('a sequence may be split, and Escape alone is a key', () => {
  assert.equal(formatKeys(ESC, '[', 'A'), ['up'])
  assert.equal(formatKeys(ESC), ['escape'])
  assert.equal(formatKeys(`${ESC}${ESC}`), ['escape', 'escape'])
  assert.equal(formatKeys(`x${ESC}`), ['text:x', 'escape'])
  const decoder = new KeyDecoder()
  decoder.push(ESC)
  assert.is(decoder.hasPending, true)
  assert.equal(decoder.push('[C').length, 1)
  assert.is(decoder.hasPending, false)
})

test('unknown sequences are dropped', () => {
  assert.equal(formatKeys(`${ESC}[I${ESC}[?1;2c${ESC}[12;40ta`), ['text:a'])
})

test('a paste is one key regardless of its content and chunks', () => {
  const paste = `${ESC}[200~one\r\ntwo\r${ESC}[A\u0003three${ESC}[201~`
  const [whole] = decodeKeys(paste)
  assert.equal([whole?.name, whole?.text], ['paste', `one\ntwo\n${ESC}[A\u0003three`])
  assert.equal(decodeKeys(...paste.split('')), decodeKeys(paste))
  assert.equal(formatKeys(`a${paste}\r`).length, 3)
  assert.is(typed(paste), 'one\ntwo\n[Athree|', 'control characters are dropped')
})

test('text is inserted at the cursor', () => {
  assert.is(typed(`held${LEFT}${LEFT}llo wor`), 'hello worl|ld'.replace('worl|ld', 'wor|ld'))
  assert.is(typed(`abc${HOME}x${END}y`), 'xabcy|')
  assert.is(typed(`abc${LEFT}${DELETE}d\u007f\u007f`), 'a|')
})

test('the cursor moves over emoji, flags and accents as one character', () => {
  for (const one of ['👩‍👩‍👧', '🇩🇪', 'e\u0301', '👍🏽', '日', '1️⃣', 'नि']) {
    assert.is(typed(`a${one}b${LEFT}${LEFT}`), `a|${one}b`)
    assert.is(typed(`a${one}\u007f`), 'a|')
    assert.is(typed(`${one}b${HOME}${DELETE}`), '|b')
    assert.is(typed(`${one}b${HOME}${RIGHT}`), `${one}|b`)
  }
})

test('words and lines can be skipped, cut and pasted', () => {
  assert.is(typed(`one two  three${ESC}b${ESC}b`), 'one |two  three')
  assert.is(typed(`one two${HOME}${ESC}[1;5C`), 'one| two')
  assert.is(typed('one two\u0017'), 'one |')
  assert.is(typed(`one two${LEFT}${LEFT}\u000b`), 'one t|')
  assert.is(typed('one two\u0015'), '|')
  assert.is(typed('one two\u0017\u0001\u0019'), 'two|one ')
  assert.is(typed(`one two${HOME}${ESC}d`), '| two')
})

test('undo reverts the last change', () => {
  const editor = [...'abc'].reduce((made, letter) => after(letter, made), EMPTY_EDITOR)
  assert.is(typed('\u001f', { from: editor }), 'ab|')
  assert.is(typed('\u0015\u001f', { from: editor }), 'abc|')
  assert.is(typed('\u001f\u001f\u001f\u001f\u001f', { from: editor }), '|')
  assert.is(typed(`${ESC}z${ESC}z${ESC}Z`, { from: editor }), 'ab|', 'Alt+Z and Alt+Shift+Z undo and redo')
  assert.is(typed(`${ESC}zx${ESC}Z`, { from: editor }), 'abx|', 'a change cannot be redone after another one')
})

test('a line break is inserted by Ctrl+J, Alt+Enter, Shift+Enter and a backslash before Enter', () => {
  for (const bytes of ['\n', `${ESC}\r`, `${ESC}[13;2u`, '\\\r']) assert.is(typed(`a${bytes}b`), 'a\nb|')
  const [enter] = decodeKeys('\r') as [Key]
  assert.is(applyKey(setText(EMPTY_EDITOR, 'a'), enter, 40), undefined, 'Enter alone submits')
})

test('Up and Down keep the column across short and wide lines', () => {
  assert.is(typed(`abcdef\nab\nabcdef${UP}${UP}`), 'abcdef|\nab\nabcdef')
  assert.is(typed(`日本語\nabcdef${LEFT}${LEFT}${UP}`), '日本|語\nabcdef')
  assert.is(typed(`日本語\nabcdef${LEFT}${LEFT}${LEFT}${UP}${DOWN}`), '日本語\nabc|def')
})

test('Up in the first row recalls the history and keeps the draft', () => {
  const from = clearAndRemember(setText(clearAndRemember(setText(EMPTY_EDITOR, 'first')), 'second'))
  assert.is(typed(`draft${UP}`, { from }), 'second|')
  assert.is(typed(`draft${UP}${UP}`, { from }), 'first|')
  assert.is(typed(`draft${UP}${UP}${UP}${DOWN}${DOWN}`, { from }), 'draft|')
  assert.is(typed(DOWN, { from }), '|')
  assert.equal(clearAndRemember(setText(from, 'second')).history, ['first', 'second'], 'repeated entries are stored once')
})

test('rows wrap at words without losing text, and the cursor matches its offset', () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom('a', 'word', ' ', '\n', '日本', '👩‍👩‍👧', 'é', '\t', 'averylongwordwithoutanyspace'), { maxLength: 40 }),
      fc.integer({ min: 4, max: 30 }),
      fc.nat(),
      (parts, columns, place) => {
        const text = parts.join('')
        const bounds = [
          0,
          ...splitGraphemes(text).map(
            (
              (sum) => (each: string) =>
                (sum += each.length)
            )(0),
          ),
        ]
        const cursor = bounds[place % bounds.length] as number
        const { rows, row, column } = layOutText(text, cursor, columns)
        assert.is(
          rows
            .map(({ start, end }) => text.slice(start, end))
            .join('')
            .replaceAll('\n', ''),
          text.replaceAll('\n', ''),
        )
        for (const each of rows) assert.ok(stringWidth(each.text.replaceAll('\t', '    ').trimEnd()) <= columns, each.text)
        assert.ok(column < columns && rows[row] !== undefined && cursor >= (rows[row]?.start ?? 0) && cursor <= (rows[row]?.end ?? 0))
      },
    ),
    { numRuns: 400 },
  )
  assert.equal(
    layOutText('one two three', 0, 9).rows.map(({ text }) => text),
    ['one two ', 'three'],
  )
})

test('a wide character moves the cursor by two columns', () => {
  assert.equal([layOutText('日本', 1, 20).column, layOutText('a👍🏽b', 5, 20).column], [2, 3])
})

test('the visible rows of a long text contain the cursor', () => {
  const text = Array.from({ length: 30 }, (_, index) => `line ${index}`).join('\n')
  const { rows, row, above, below } = getVisibleRows(layOutText(text, text.indexOf('line 15'), 40), 5)
  assert.equal([rows.length, rows[row]?.text, above + below], [5, 'line 15', 25])
})

test('the cursor is always between graphemes', () => {
  const bytes = fc.constantFrom(
    'a',
    ' ',
    '👩‍👩‍👧',
    '日',
    '\n',
    LEFT,
    RIGHT,
    UP,
    DOWN,
    HOME,
    END,
    DELETE,
    '\u007f',
    '\u0017',
    '\u000b',
    '\u0015',
    '\u0019',
    '\u001f',
    `${ESC}b`,
    `${ESC}f`,
  )
  fc.assert(
    fc.property(fc.array(bytes, { maxLength: 60 }), (typing) => {
      const { text, cursor } = typing.reduce((editor, each) => after(each, editor, 7), EMPTY_EDITOR)
      const bounds = new Set([
        0,
        ...splitGraphemes(text).map(
          (
            (sum) => (each: string) =>
              (sum += each.length)
          )(0),
        ),
      ])
      assert.ok(bounds.has(cursor), JSON.stringify([text, cursor]))
    }),
    { numRuns: 300 },
  )
})

test.run()
