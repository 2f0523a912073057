/** What each key does to the text that is being typed. */
import {
  cutToEnd,
  cutToStart,
  cutWordLeft,
  cutWordRight,
  deleteNext,
  deletePrevious,
  type Editor,
  insert,
  moveLeft,
  moveRight,
  moveToLineEnd,
  moveToLineStart,
  moveVertically,
  moveWordLeft,
  moveWordRight,
  pasteCutText,
  undo,
} from './editor.ts'
import type { Key } from './key-decoder.ts'

type EditorCommand = (editor: Editor) => Editor

const CTRL_COMMANDS: Record<string, EditorCommand> = {
  a: moveToLineStart,
  b: moveLeft,
  d: deleteNext,
  e: moveToLineEnd,
  f: moveRight,
  h: deletePrevious,
  k: cutToEnd,
  u: cutToStart,
  w: cutWordLeft,
  y: pasteCutText,
  z: undo,
  _: undo,
}
const ALT_COMMANDS: Record<string, EditorCommand> = { b: moveWordLeft, d: cutWordRight, f: moveWordRight }

/** Whether the key begins a new line instead of sending: no two terminals agree on which one can. */
export function isLineBreak(key: Key, { text, cursor }: Editor): boolean {
  if (key.name === 'newline') return true
  return key.name === 'enter' && (key.shift || key.alt || key.ctrl || (text[cursor - 1] === '\\' && cursor > 0))
}

/** The text after the key; undefined when the key is none of the editor's. */
export function applyKey(editor: Editor, key: Key, columns: number): Editor | undefined {
  const { name, text, ctrl, alt } = key
  const byWord = ctrl || alt
  switch (name) {
    case 'paste':
      return insert(editor, text)
    case 'text':
      return ctrl ? CTRL_COMMANDS[text]?.(editor) : alt ? ALT_COMMANDS[text.toLowerCase()]?.(editor) : insert(editor, text)
    case 'newline':
    case 'enter':
      return isLineBreak(key, editor)
        ? insert(editor.text[editor.cursor - 1] === '\\' && name === 'enter' ? deletePrevious(editor) : editor, '\n')
        : undefined
    case 'left':
      return byWord ? moveWordLeft(editor) : moveLeft(editor)
    case 'right':
      return byWord ? moveWordRight(editor) : moveRight(editor)
    case 'up':
      return moveVertically(editor, -1, columns)
    case 'down':
      return moveVertically(editor, 1, columns)
    case 'home':
      return moveToLineStart(editor)
    case 'end':
      return moveToLineEnd(editor)
    case 'backspace':
      return byWord ? cutWordLeft(editor) : deletePrevious(editor)
    case 'delete':
      return byWord ? cutWordRight(editor) : deleteNext(editor)
    default:
      return undefined
  }
}
