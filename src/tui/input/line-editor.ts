/** State of the input editor; the cursor moves by grapheme. */
import { splitGraphemes } from '../../cli/terminal/text.ts'
import { MAX_ENTRIES } from './history-file.ts'
import { findOffset, layOutText } from './line-editor-layout.ts'

type TextState = Pick<Editor, 'text' | 'cursor'>

export interface Editor {
  readonly text: string
  /** Offset into the text. */
  readonly cursor: number
  /** Column kept while moving up and down. */
  readonly goalColumn: number | undefined
  /** Last cut text, for Ctrl+Y. */
  readonly cutText: string
  readonly undo: readonly TextState[]
  readonly redo: readonly TextState[]
  /** Submitted texts, oldest first; `historyIndex` is the shown one, and `draft` follows the last one. */
  readonly history: readonly string[]
  readonly historyIndex: number | undefined
  readonly draft: string
}

export const EMPTY_EDITOR: Editor = {
  text: '',
  cursor: 0,
  goalColumn: undefined,
  cutText: '',
  undo: [],
  redo: [],
  history: [],
  historyIndex: undefined,
  draft: '',
}

const MAX_UNDO_STEPS = 100

/** Changes text and cursor and adds an undo step. */
function applyChange(editor: Editor, text: string, cursor: number): Editor {
  if (text === editor.text) return moveCursor(editor, cursor)
  const undo = [...editor.undo.slice(-MAX_UNDO_STEPS + 1), { text: editor.text, cursor: editor.cursor }]
  return { ...editor, text, cursor, undo, redo: [], goalColumn: undefined }
}

function moveCursor(editor: Editor, cursor: number): Editor {
  return { ...editor, cursor: Math.max(0, Math.min(editor.text.length, cursor)), goalColumn: undefined }
}

export function setText(editor: Editor, text: string, cursor = text.length): Editor {
  return applyChange(editor, text, cursor)
}

/** Inserts text without control characters other than line ends and tabs. */
export function insert(editor: Editor, typed: string): Editor {
  const clean = typed.replaceAll(/\r\n?/g, '\n').replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '')
  const { text, cursor } = editor
  return applyChange(editor, text.slice(0, cursor) + clean + text.slice(cursor), cursor + clean.length)
}

function removeRange(editor: Editor, from: number, to: number, isCut = false): Editor {
  const { text } = editor
  const next = applyChange(editor, text.slice(0, from) + text.slice(to), from)
  return isCut && to > from ? { ...next, cutText: text.slice(from, to) } : next
}

/** Segments only the current line, for speed. */
function findPreviousGrapheme({ text, cursor }: Editor): number {
  if (cursor === 0) return 0
  if (text[cursor - 1] === '\n') return cursor - 1
  const start = text.lastIndexOf('\n', cursor - 1) + 1
  return cursor - (splitGraphemes(text.slice(start, cursor)).at(-1)?.length ?? 0)
}

function findNextGrapheme({ text, cursor }: Editor): number {
  if (cursor >= text.length || text[cursor] === '\n') return Math.min(text.length, cursor + 1)
  const end = text.indexOf('\n', cursor)
  return cursor + (splitGraphemes(text.slice(cursor, end === -1 ? undefined : end))[0]?.length ?? 0)
}

function findWordStart({ text, cursor }: Editor): number {
  const skipped = text.slice(0, cursor).replace(/[^\p{L}\p{N}_]+$/u, '')
  return skipped.replace(/[\p{L}\p{N}_]+$/u, '').length
}

function findWordEnd({ text, cursor }: Editor): number {
  return cursor + (/^[^\p{L}\p{N}_]*[\p{L}\p{N}_]*/u.exec(text.slice(cursor))?.[0].length ?? 0)
}

const findLineStart = ({ text, cursor }: Editor) => text.lastIndexOf('\n', cursor - 1) + 1
function findLineEnd({ text, cursor }: Editor): number {
  const end = text.indexOf('\n', cursor)
  return end === -1 ? text.length : end
}

export const moveLeft = (editor: Editor) => moveCursor(editor, findPreviousGrapheme(editor))
export const moveRight = (editor: Editor) => moveCursor(editor, findNextGrapheme(editor))
export const moveWordLeft = (editor: Editor) => moveCursor(editor, findWordStart(editor))
export const moveWordRight = (editor: Editor) => moveCursor(editor, findWordEnd(editor))
export const moveToLineStart = (editor: Editor) => moveCursor(editor, findLineStart(editor))
export const moveToLineEnd = (editor: Editor) => moveCursor(editor, findLineEnd(editor))
export const deletePrevious = (editor: Editor) => removeRange(editor, findPreviousGrapheme(editor), editor.cursor)
export const deleteNext = (editor: Editor) => removeRange(editor, editor.cursor, findNextGrapheme(editor))
export const cutWordLeft = (editor: Editor) => removeRange(editor, findWordStart(editor), editor.cursor, true)
export const cutWordRight = (editor: Editor) => removeRange(editor, editor.cursor, findWordEnd(editor), true)
export const pasteCutText = (editor: Editor) => insert(editor, editor.cutText)

/** Cuts to the start of the line, or the preceding line end. */
export function cutToStart(editor: Editor): Editor {
  const start = findLineStart(editor)
  return removeRange(editor, start === editor.cursor ? Math.max(0, start - 1) : start, editor.cursor, true)
}

export function cutToEnd(editor: Editor): Editor {
  const last = findLineEnd(editor)
  return removeRange(editor, editor.cursor, last === editor.cursor ? Math.min(editor.text.length, last + 1) : last, true)
}

export const undo = (editor: Editor) => restore(editor, 'undo', 'redo')
export const redo = (editor: Editor) => restore(editor, 'redo', 'undo')

function restore(editor: Editor, from: 'undo' | 'redo', to: 'undo' | 'redo'): Editor {
  const { text, cursor } = editor
  const step = editor[from].at(-1)
  if (!step) return editor
  return { ...editor, ...step, [from]: editor[from].slice(0, -1), [to]: [...editor[to], { text, cursor }], goalColumn: undefined }
}

/** Moves by a row, or through the history at the first and last row. */
export function moveVertically(editor: Editor, step: -1 | 1, columns: number): Editor {
  const layout = layOutText(editor.text, editor.cursor, columns)
  const goal = editor.goalColumn ?? layout.column
  const row = layout.row + step
  if (row < 0 || row >= layout.rows.length) return recallHistory(editor, step)
  return { ...editor, cursor: findOffset(layout, row, goal), goalColumn: goal }
}

function recallHistory(editor: Editor, step: -1 | 1): Editor {
  const { historyIndex, history, text, draft } = editor
  const next = (historyIndex ?? history.length) + step
  if (next < 0 || next > history.length || (historyIndex === undefined && step === 1)) return editor
  const shown = next === history.length ? draft : (history[next] ?? '')
  return {
    ...editor,
    text: shown,
    cursor: shown.length,
    goalColumn: undefined,
    historyIndex: next === history.length ? undefined : next,
    draft: historyIndex === undefined ? text : draft,
    undo: [],
    redo: [],
  }
}

/** Clears the input; undo and Ctrl+Y bring the text back. */
export function clearText(editor: Editor): Editor {
  return { ...setText(editor, ''), cutText: editor.text, historyIndex: undefined }
}

/** Clears the input and adds the text to the history. */
export function clearAndRemember(editor: Editor, text = editor.text): Editor {
  const history = editor.history.at(-1) === text || text.trim() === '' ? editor.history : [...editor.history.slice(-MAX_ENTRIES + 1), text]
  return { ...EMPTY_EDITOR, cutText: editor.cutText, history }
}
