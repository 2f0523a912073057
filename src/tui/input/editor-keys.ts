/** Maps keys to editor commands. */
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

/** Accepts several keys for a line break, because terminals support different ones. */
export function isLineBreak(key: Key, { text, cursor }: Editor): boolean {
  if (key.name === 'newline') return true
  return key.name === 'enter' && (key.shift || key.alt || key.ctrl || (text[cursor - 1] === '\\' && cursor > 0))
}

/** Returns undefined for keys that the editor does not handle. */
export function applyKey(editor: Editor, key: Key, columns: number): Editor | undefined {
  const { name, text, ctrl, alt } = key
  const isByWord = ctrl || alt
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
      return isByWord ? moveWordLeft(editor) : moveLeft(editor)
    case 'right':
      return isByWord ? moveWordRight(editor) : moveRight(editor)
    case 'up':
      return moveVertically(editor, -1, columns)
    case 'down':
      return moveVertically(editor, 1, columns)
    case 'home':
      return moveToLineStart(editor)
    case 'end':
      return moveToLineEnd(editor)
    case 'backspace':
      return isByWord ? cutWordLeft(editor) : deletePrevious(editor)
    case 'delete':
      return isByWord ? cutWordRight(editor) : deleteNext(editor)
    default:
      return undefined
  }
}
