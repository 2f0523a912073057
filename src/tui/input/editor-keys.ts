/** What each key does to the text that is being typed. */
import {
  backspace,
  cutToEnd,
  cutToStart,
  cutWordLeft,
  cutWordRight,
  type Editor,
  end,
  home,
  insert,
  left,
  paste,
  removeNext,
  right,
  undo,
  vertical,
  wordLeft,
  wordRight,
} from './editor.ts'
import type { Key } from './parse-keys.ts'

type Change = (editor: Editor) => Editor

const WITH_CTRL: Record<string, Change> = {
  a: home,
  b: left,
  d: removeNext,
  e: end,
  f: right,
  h: backspace,
  k: cutToEnd,
  u: cutToStart,
  w: cutWordLeft,
  y: paste,
  z: undo,
  _: undo,
}
const WITH_ALT: Record<string, Change> = { b: wordLeft, d: cutWordRight, f: wordRight }

/** Whether the key begins a new line instead of sending: no two terminals agree on which one can. */
export function breaksLine(key: Key, { text, cursor }: Editor): boolean {
  if (key.name === 'newline') return true
  return key.name === 'enter' && (key.shift || key.alt || key.ctrl || (text[cursor - 1] === '\\' && cursor > 0))
}

/** The text after the key; undefined when the key is none of the editor's. */
export function edited(editor: Editor, key: Key, columns: number): Editor | undefined {
  const { name, text, ctrl, alt } = key
  const byWord = ctrl || alt
  switch (name) {
    case 'paste':
      return insert(editor, text)
    case 'text':
      return ctrl ? WITH_CTRL[text]?.(editor) : alt ? WITH_ALT[text.toLowerCase()]?.(editor) : insert(editor, text)
    case 'newline':
    case 'enter':
      return breaksLine(key, editor)
        ? insert(editor.text[editor.cursor - 1] === '\\' && name === 'enter' ? backspace(editor) : editor, '\n')
        : undefined
    case 'left':
      return byWord ? wordLeft(editor) : left(editor)
    case 'right':
      return byWord ? wordRight(editor) : right(editor)
    case 'up':
      return vertical(editor, -1, columns)
    case 'down':
      return vertical(editor, 1, columns)
    case 'home':
      return home(editor)
    case 'end':
      return end(editor)
    case 'backspace':
      return byWord ? cutWordLeft(editor) : backspace(editor)
    case 'delete':
      return byWord ? cutWordRight(editor) : removeNext(editor)
    default:
      return undefined
  }
}
