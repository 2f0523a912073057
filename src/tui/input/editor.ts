/** The text that is being typed: a pure state with a cursor that stands between what readers take for characters. */
import { splitGraphemes } from '../../cli/terminal/text.ts'
import { laidOut, offsetAt } from './editor-layout.ts'

export interface Editor {
  readonly text: string
  /** Offset into the text. */
  readonly cursor: number
  /** The column that up and down keep to. */
  readonly goal: number | undefined
  /** What was cut last, for Ctrl+Y. */
  readonly cut: string
  readonly undo: readonly { text: string; cursor: number }[]
  /** What was sent before, oldest first, and which of it stands here; the draft comes back at its end. */
  readonly past: readonly string[]
  readonly at: number | undefined
  readonly draft: string
}

export const BLANK: Editor = { text: '', cursor: 0, goal: undefined, cut: '', undo: [], past: [], at: undefined, draft: '' }

const MOST_UNDO = 100
const MOST_PAST = 500

/** The text and the cursor, changed; the step before can come back. */
function changed(editor: Editor, text: string, cursor: number): Editor {
  if (text === editor.text) return moved(editor, cursor)
  const undo = [...editor.undo.slice(-MOST_UNDO + 1), { text: editor.text, cursor: editor.cursor }]
  return { ...editor, text, cursor, undo, goal: undefined }
}

export function moved(editor: Editor, cursor: number): Editor {
  return { ...editor, cursor: Math.max(0, Math.min(editor.text.length, cursor)), goal: undefined }
}

export function withText(editor: Editor, text: string, cursor = text.length): Editor {
  return changed(editor, text, cursor)
}

/** What was typed or pasted. Control characters could not be seen, so they stay out; line ends and tabs are text. */
export function insert(editor: Editor, typed: string): Editor {
  const clean = typed.replaceAll(/\r\n?/g, '\n').replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '')
  const { text, cursor } = editor
  return changed(editor, text.slice(0, cursor) + clean + text.slice(cursor), cursor + clean.length)
}

function remove(editor: Editor, from: number, to: number, keep = false): Editor {
  const { text } = editor
  const made = changed(editor, text.slice(0, from) + text.slice(to), from)
  return keep && to > from ? { ...made, cut: text.slice(from, to) } : made
}

/** One character before the cursor. The line is enough to look at: a line end is a character of its own. */
function before({ text, cursor }: Editor): number {
  if (cursor === 0) return 0
  if (text[cursor - 1] === '\n') return cursor - 1
  const start = text.lastIndexOf('\n', cursor - 1) + 1
  return cursor - (splitGraphemes(text.slice(start, cursor)).at(-1)?.length ?? 0)
}

function after({ text, cursor }: Editor): number {
  if (cursor >= text.length || text[cursor] === '\n') return Math.min(text.length, cursor + 1)
  const end = text.indexOf('\n', cursor)
  return cursor + (splitGraphemes(text.slice(cursor, end === -1 ? undefined : end))[0]?.length ?? 0)
}

function wordBefore({ text, cursor }: Editor): number {
  const skipped = text.slice(0, cursor).replace(/[^\p{L}\p{N}_]+$/u, '')
  return skipped.replace(/[\p{L}\p{N}_]+$/u, '').length
}

function wordAfter({ text, cursor }: Editor): number {
  return cursor + (/^[^\p{L}\p{N}_]*[\p{L}\p{N}_]*/u.exec(text.slice(cursor))?.[0].length ?? 0)
}

const lineStart = ({ text, cursor }: Editor) => text.lastIndexOf('\n', cursor - 1) + 1
function lineEnd({ text, cursor }: Editor): number {
  const end = text.indexOf('\n', cursor)
  return end === -1 ? text.length : end
}

export const left = (editor: Editor) => moved(editor, before(editor))
export const right = (editor: Editor) => moved(editor, after(editor))
export const wordLeft = (editor: Editor) => moved(editor, wordBefore(editor))
export const wordRight = (editor: Editor) => moved(editor, wordAfter(editor))
export const home = (editor: Editor) => moved(editor, lineStart(editor))
export const end = (editor: Editor) => moved(editor, lineEnd(editor))
export const backspace = (editor: Editor) => remove(editor, before(editor), editor.cursor)
export const removeNext = (editor: Editor) => remove(editor, editor.cursor, after(editor))
export const cutWordLeft = (editor: Editor) => remove(editor, wordBefore(editor), editor.cursor, true)
export const cutWordRight = (editor: Editor) => remove(editor, editor.cursor, wordAfter(editor), true)
export const paste = (editor: Editor) => insert(editor, editor.cut)

/** To the start of the line; at its start, the line end before it. */
export function cutToStart(editor: Editor): Editor {
  const start = lineStart(editor)
  return remove(editor, start === editor.cursor ? Math.max(0, start - 1) : start, editor.cursor, true)
}

export function cutToEnd(editor: Editor): Editor {
  const last = lineEnd(editor)
  return remove(editor, editor.cursor, last === editor.cursor ? Math.min(editor.text.length, last + 1) : last, true)
}

export function undo(editor: Editor): Editor {
  const step = editor.undo.at(-1)
  return step ? { ...editor, ...step, undo: editor.undo.slice(0, -1), goal: undefined } : editor
}

/** A row up or down, in the same column where that is possible. At the first or last row, what was sent before or after. */
export function vertical(editor: Editor, by: -1 | 1, columns: number): Editor {
  const layout = laidOut(editor.text, editor.cursor, columns)
  const goal = editor.goal ?? layout.column
  const row = layout.row + by
  if (row < 0 || row >= layout.rows.length) return past(editor, by)
  return { ...editor, cursor: offsetAt(layout, row, goal), goal }
}

function past(editor: Editor, by: -1 | 1): Editor {
  const { at, past: sent, text, draft } = editor
  const next = (at ?? sent.length) + by
  if (next < 0 || next > sent.length || (at === undefined && by === 1)) return editor
  const shown = next === sent.length ? draft : (sent[next] ?? '')
  return {
    ...editor,
    text: shown,
    cursor: shown.length,
    goal: undefined,
    at: next === sent.length ? undefined : next,
    draft: at === undefined ? text : draft,
    undo: [],
  }
}

/** What stands here was sent: the line is empty again, and remembers it. */
export function sent(editor: Editor, text = editor.text): Editor {
  const kept = editor.past.at(-1) === text || text.trim() === '' ? editor.past : [...editor.past.slice(-MOST_PAST + 1), text]
  return { ...BLANK, cut: editor.cut, past: kept }
}
