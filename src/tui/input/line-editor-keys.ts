/** Maps keys to editor commands. */
import type { Key } from './key-decoder.ts'
import * as commands from './line-editor.ts'

type EditorCommand = (editor: commands.Editor) => commands.Editor

const CTRL_COMMANDS: Record<string, EditorCommand> = {
  a: commands.moveToLineStart,
  b: commands.moveLeft,
  d: commands.deleteNext,
  e: commands.moveToLineEnd,
  f: commands.moveRight,
  h: commands.deletePrevious,
  k: commands.cutToEnd,
  u: commands.cutToStart,
  w: commands.cutWordLeft,
  y: commands.pasteCutText,
  _: commands.undo,
}
const ALT_COMMANDS: Record<string, EditorCommand> = {
  b: commands.moveWordLeft,
  d: commands.cutWordRight,
  f: commands.moveWordRight,
  z: commands.undo,
  Z: commands.redo,
}

/** Accepts several keys for a line break, because terminals support different ones. */
function isLineBreak(key: Key, { text, cursor }: commands.Editor): boolean {
  if (key.name === 'newline') return true
  return key.name === 'enter' && (key.shift || key.alt || key.ctrl || (text[cursor - 1] === '\\' && cursor > 0))
}

/** Returns undefined for keys that the editor does not handle. */
export function applyKey(editor: commands.Editor, key: Key, columns: number): commands.Editor | undefined {
  const { name, text, ctrl, alt } = key
  const isByWord = ctrl || alt
  switch (name) {
    case 'paste':
      return commands.insert(editor, text)
    case 'text':
      return ctrl
        ? CTRL_COMMANDS[text]?.(editor)
        : alt
          ? (ALT_COMMANDS[text] ?? ALT_COMMANDS[text.toLowerCase()])?.(editor)
          : commands.insert(editor, text)
    case 'newline':
    case 'enter':
      return isLineBreak(key, editor)
        ? commands.insert(editor.text[editor.cursor - 1] === '\\' && name === 'enter' ? commands.deletePrevious(editor) : editor, '\n')
        : undefined
    case 'left':
      return isByWord ? commands.moveWordLeft(editor) : commands.moveLeft(editor)
    case 'right':
      return isByWord ? commands.moveWordRight(editor) : commands.moveRight(editor)
    case 'up':
      return commands.moveVertically(editor, -1, columns)
    case 'down':
      return commands.moveVertically(editor, 1, columns)
    case 'home':
      return commands.moveToLineStart(editor)
    case 'end':
      return commands.moveToLineEnd(editor)
    case 'backspace':
      return isByWord ? commands.cutWordLeft(editor) : commands.deletePrevious(editor)
    case 'delete':
      return isByWord ? commands.cutWordRight(editor) : commands.deleteNext(editor)
    default:
      return undefined
  }
}
