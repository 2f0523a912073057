/** What each key does, by what is open: a question, a list, a menu, or just the input. */

import { findMentionedFiles, listEntries } from '../cli/input/attachments.ts'
import { choose, showSources } from './commands/run-command.ts'
import { type Completion, completed, completionFor, type Option } from './input/completion.ts'
import { withText } from './input/editor.ts'
import { edited } from './input/editor-keys.ts'
import type { Key } from './input/parse-keys.ts'
import { GRACE_MS, inputColumns, panelHeight } from './render/live-area.ts'
import { scrolled } from './render/source-panel.ts'
import type { Room } from './session/chat-session.ts'
import { choicesOf, type Picker, type Sources } from './state/chat-state.ts'
import { asking } from './state/transcript-reducer.ts'
import { retry, submit } from './submit.ts'

const LEAVE = 'Ctrl+C again leaves.'

export function press(room: Room, key: Key): void {
  const { desk } = room
  const { hint } = desk.state
  if (isCtrl(key, 'c')) {
    if (hint === LEAVE) room.leave()
    else desk.update({ hint: LEAVE })
    return
  }
  if (room.changing.holds(key, () => press(room, key))) return
  if (hint !== undefined) desk.update({ hint: undefined })
  if (always(room, key) || answers(room, key) || inPanel(room, key) || inMenu(room, key)) return
  if (key.name === 'escape') stop(room)
  else if (key.name === 'tab') complete(room)
  else type(room, key)
}

function type(room: Room, key: Key): void {
  const { editor, size } = room.desk.state
  const next = edited(editor, key, inputColumns(size.columns))
  if (next) {
    room.desk.update({ editor: next })
    if (next.text !== editor.text) look(room, key.name === 'text' || key.name === 'backspace' || key.name === 'delete')
  } else if (key.name === 'enter') void submit(room, editor.text)
}

const isCtrl = ({ name, ctrl, text }: Key, letter: string) => name === 'text' && ctrl && text === letter

/** Keys that mean the same whatever is open. */
function always(room: Room, key: Key): boolean {
  const { desk } = room
  if (isCtrl(key, 'l')) desk.redraw()
  else if (isCtrl(key, 'o')) showSources(room)
  else if (isCtrl(key, 'r')) void retry(room)
  else if (isCtrl(key, 't')) {
    desk.update({ details: !desk.state.details })
    desk.redraw()
  } else if (isCtrl(key, 'd') && desk.state.editor.text === '') room.leave()
  else return false
  return true
}

/** A tool waits for a yes or a no: by a letter where nothing is typed, else by one with Ctrl. */
function answers({ desk, session }: Room, key: Key): boolean {
  const tool = asking(desk.state.transcript)
  if (!tool || key.name !== 'text') return false
  const bare = desk.state.editor.text === '' && !key.ctrl && !key.alt && desk.now() - desk.state.since >= GRACE_MS
  const letter = (bare || key.ctrl ? key.text : '').toLowerCase()
  if (letter !== 'y' && letter !== 'n') return false
  void session.answer(tool.id, letter === 'y')
  return true
}

function stop({ desk, session }: Room): void {
  if (!session.stop() && desk.state.editor.text !== '') desk.update({ hint: 'Ctrl+U empties the line.' })
}

function inPanel(room: Room, key: Key): boolean {
  const { panel, menu } = room.desk.state
  // What is typed below open passages is completed as ever.
  if (!panel || (panel.kind === 'sources' && menu)) return false
  if (key.name === 'escape') {
    room.desk.update({ panel: undefined })
    return true
  }
  return panel.kind === 'picker' ? inPicker(room, panel, key) : inSources(room, panel, key)
}

const moved = (selected: number, key: Key, count: number) => {
  const by = { up: -1, down: 1, pageup: -8, pagedown: 8 }[key.name as 'up'] ?? 0
  return Math.max(0, Math.min(count - 1, selected + by))
}

function inSources({ desk }: Room, panel: Sources, key: Key): boolean {
  const { length } = panel.citations
  const forward = key.name === 'down' || key.name === 'pagedown'
  if (key.name === 'tab' && length > 0)
    desk.update({ panel: { ...panel, selected: (panel.selected + (key.shift ? length - 1 : 1)) % length, top: undefined } })
  else if (forward || key.name === 'up' || key.name === 'pageup') {
    const page = key.name.startsWith('page')
    desk.update({ panel: scrolled(panel, { forward, page }, desk.state.size.columns, panelHeight(desk.state)) })
  } else return false
  return true
}

function inPicker(room: Room, panel: Picker, key: Key): boolean {
  const choices = choicesOf(panel)
  const selected = Math.min(panel.selected, Math.max(0, choices.length - 1))
  if (key.name === 'enter') {
    const choice = choices[selected]
    // The list stays open until what was chosen takes its place.
    if (choice) void choose(room, panel.what, choice.id)
    else room.desk.update({ panel: undefined })
  } else if (key.name === 'text' && !key.ctrl && !key.alt)
    room.desk.update({ panel: { ...panel, filter: panel.filter + key.text, selected: 0 } })
  else if (key.name === 'backspace') room.desk.update({ panel: { ...panel, filter: panel.filter.slice(0, -1), selected: 0 } })
  else room.desk.update({ panel: { ...panel, selected: moved(selected, key, choices.length) } })
  return true
}

function inMenu(room: Room, key: Key): boolean {
  const { desk } = room
  const { menu } = desk.state
  if (!menu) return false
  const { completion, selected } = menu
  if (key.name === 'up' || key.name === 'down') {
    const { length } = completion.options
    desk.update({ menu: { completion, selected: (selected + (key.name === 'up' ? length - 1 : 1)) % length } })
    return true
  }
  if (key.name === 'escape') {
    desk.update({ menu: undefined })
    return true
  }
  const option = completion.options[selected]
  if (!option || (key.name !== 'tab' && key.name !== 'enter') || key.alt || key.shift) return false
  return key.name === 'tab' ? put(room, completion, option) : entered(room, completion, option)
}

function put(room: Room, completion: Completion, option: Option): true {
  const { desk } = room
  const { text, cursor } = completed(desk.state.editor.text, completion, option)
  desk.update({ editor: withText(desk.state.editor, text, cursor), menu: undefined })
  look(room, option.open)
  return true
}

/** Enter takes what is chosen; where it stands there already, or is a whole command, it goes out as well. */
function entered(room: Room, completion: Completion, option: Option): boolean {
  const { editor } = room.desk.state
  const { text } = completed(editor.text, completion, option)
  if (text.trim() === editor.text.trim()) {
    room.desk.update({ menu: undefined })
    return false
  }
  put(room, completion, option)
  if (completion.kind !== 'file' && !option.open) void submit(room, room.desk.state.editor.text)
  return true
}

/** Tab where no menu is open: what there is to complete is shown, or taken where it is the only one. */
function complete(room: Room): void {
  look(room, true)
  const { menu } = room.desk.state
  const [only, second] = menu?.completion.options ?? []
  if (menu && only && !second) put(room, menu.completion, only)
}

/** After the text changed: what it may become, and which files it names. */
function look({ desk, cwd, agentNames, modelNames }: Room, offers: boolean): void {
  const { text, cursor } = desk.state.editor
  const names = (command: string) => (command === 'agent' ? agentNames : command === 'model' ? modelNames : [])
  const completion = offers ? completionFor(text, cursor, { entries: (directory) => listEntries(cwd, directory), names }) : undefined
  desk.update({ menu: completion && { completion, selected: 0 }, files: findMentionedFiles(text, cwd) })
}
