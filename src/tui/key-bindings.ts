/** What each key does, by what is open: a question, a list, a menu, or just the input. */

import { findMentionedFiles, listEntries } from '../cli/input/attachments.ts'
import { applyChoice, toggleSources } from './commands/run-command.ts'
import { applyCompletion, type Completion, type CompletionOption, findCompletion } from './input/completion.ts'
import { setText } from './input/editor.ts'
import { applyKey } from './input/editor-keys.ts'
import type { Key } from './input/key-decoder.ts'
import { CONFIRMATION_GRACE_MS, getInputColumns, getPanelHeight } from './render/live-area.ts'
import { scrollPanel } from './render/source-panel.ts'
import type { ChatSession } from './session/chat-session.ts'
import { filterChoices, type Picker, type SourcePanel } from './state/chat-state.ts'
import { findPendingConfirmation } from './state/transcript-reducer.ts'
import { retryLastMessage, submit } from './submit.ts'

const QUIT_HINT = 'Ctrl+C again leaves.'

export function handleKey(room: ChatSession, key: Key): void {
  const { store: desk } = room
  const { hint } = desk.state
  if (isCtrl(key, 'c')) {
    if (hint === QUIT_HINT) room.quit()
    else desk.update({ hint: QUIT_HINT })
    return
  }
  if (room.switcher.holdKey(key, () => handleKey(room, key))) return
  if (hint !== undefined) desk.update({ hint: undefined })
  if (handleGlobalKey(room, key) || handleConfirmationKey(room, key) || handlePanelKey(room, key) || handleMenuKey(room, key)) return
  if (key.name === 'escape') stopReply(room)
  else if (key.name === 'tab') completeWord(room)
  else handleEditorKey(room, key)
}

function handleEditorKey(room: ChatSession, key: Key): void {
  const { editor, size } = room.store.state
  const next = applyKey(editor, key, getInputColumns(size.columns))
  if (next) {
    room.store.update({ editor: next })
    if (next.text !== editor.text) updateCompletion(room, key.name === 'text' || key.name === 'backspace' || key.name === 'delete')
  } else if (key.name === 'enter') void submit(room, editor.text)
}

const isCtrl = ({ name, ctrl, text }: Key, letter: string) => name === 'text' && ctrl && text === letter

/** Keys that mean the same whatever is open. */
function handleGlobalKey(room: ChatSession, key: Key): boolean {
  const { store: desk } = room
  if (isCtrl(key, 'l')) desk.redraw()
  else if (isCtrl(key, 'o')) toggleSources(room)
  else if (isCtrl(key, 'r')) void retryLastMessage(room)
  else if (isCtrl(key, 't')) {
    desk.update({ showsDetails: !desk.state.showsDetails })
    desk.redraw()
  } else if (isCtrl(key, 'd') && desk.state.editor.text === '') room.quit()
  else return false
  return true
}

/** A tool waits for a yes or a no: by a letter where nothing is typed, else by one with Ctrl. */
function handleConfirmationKey({ store: desk, replies: session }: ChatSession, key: Key): boolean {
  const tool = findPendingConfirmation(desk.state.transcript)
  if (!tool || key.name !== 'text') return false
  const bare = desk.state.editor.text === '' && !key.ctrl && !key.alt && desk.now() - desk.state.waitingSince >= CONFIRMATION_GRACE_MS
  const letter = (bare || key.ctrl ? key.text : '').toLowerCase()
  if (letter !== 'y' && letter !== 'n') return false
  void session.confirm(tool.id, letter === 'y')
  return true
}

function stopReply({ store: desk, replies: session }: ChatSession): void {
  if (!session.stop() && desk.state.editor.text !== '') desk.update({ hint: 'Ctrl+U empties the line.' })
}

function handlePanelKey(room: ChatSession, key: Key): boolean {
  const { panel, menu } = room.store.state
  // What is typed below open passages is completed as ever.
  if (!panel || (panel.kind === 'sources' && menu)) return false
  if (key.name === 'escape') {
    room.store.update({ panel: undefined })
    return true
  }
  return panel.kind === 'picker' ? handlePickerKey(room, panel, key) : handleSourcesKey(room, panel, key)
}

const moveSelection = (selected: number, key: Key, count: number) => {
  const by = { up: -1, down: 1, pageup: -8, pagedown: 8 }[key.name as 'up'] ?? 0
  return Math.max(0, Math.min(count - 1, selected + by))
}

function handleSourcesKey({ store: desk }: ChatSession, panel: SourcePanel, key: Key): boolean {
  const { length } = panel.citations
  const forward = key.name === 'down' || key.name === 'pagedown'
  if (key.name === 'tab' && length > 0)
    desk.update({ panel: { ...panel, selected: (panel.selected + (key.shift ? length - 1 : 1)) % length, top: undefined } })
  else if (forward || key.name === 'up' || key.name === 'pageup') {
    const page = key.name.startsWith('page')
    desk.update({ panel: scrollPanel(panel, { forward, page }, desk.state.size.columns, getPanelHeight(desk.state)) })
  } else return false
  return true
}

function handlePickerKey(room: ChatSession, panel: Picker, key: Key): boolean {
  const choices = filterChoices(panel)
  const selected = Math.min(panel.selected, Math.max(0, choices.length - 1))
  if (key.name === 'enter') {
    const choice = choices[selected]
    // The list stays open until what was chosen takes its place.
    if (choice) void applyChoice(room, panel.target, choice.id)
    else room.store.update({ panel: undefined })
  } else if (key.name === 'text' && !key.ctrl && !key.alt)
    room.store.update({ panel: { ...panel, filter: panel.filter + key.text, selected: 0 } })
  else if (key.name === 'backspace') room.store.update({ panel: { ...panel, filter: panel.filter.slice(0, -1), selected: 0 } })
  else room.store.update({ panel: { ...panel, selected: moveSelection(selected, key, choices.length) } })
  return true
}

function handleMenuKey(room: ChatSession, key: Key): boolean {
  const { store: desk } = room
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
  return key.name === 'tab' ? insertOption(room, completion, option) : acceptOption(room, completion, option)
}

function insertOption(room: ChatSession, completion: Completion, option: CompletionOption): true {
  const { store: desk } = room
  const { text, cursor } = applyCompletion(desk.state.editor.text, completion, option)
  desk.update({ editor: setText(desk.state.editor, text, cursor), menu: undefined })
  updateCompletion(room, option.hasMore)
  return true
}

/** Enter takes what is chosen; where it stands there already, or is a whole command, it goes out as well. */
function acceptOption(room: ChatSession, completion: Completion, option: CompletionOption): boolean {
  const { editor } = room.store.state
  const { text } = applyCompletion(editor.text, completion, option)
  if (text.trim() === editor.text.trim()) {
    room.store.update({ menu: undefined })
    return false
  }
  insertOption(room, completion, option)
  if (completion.kind !== 'file' && !option.hasMore) void submit(room, room.store.state.editor.text)
  return true
}

/** Tab where no menu is open: what there is to complete is shown, or taken where it is the only one. */
function completeWord(room: ChatSession): void {
  updateCompletion(room, true)
  const { menu } = room.store.state
  const [only, second] = menu?.completion.options ?? []
  if (menu && only && !second) insertOption(room, menu.completion, only)
}

/** After the text changed: what it may become, and which files it names. */
function updateCompletion({ store: desk, cwd, agentNames, modelNames }: ChatSession, offers: boolean): void {
  const { text, cursor } = desk.state.editor
  const names = (command: string) => (command === 'agent' ? agentNames : command === 'model' ? modelNames : [])
  const completion = offers
    ? findCompletion(text, cursor, { listEntries: (directory) => listEntries(cwd, directory), listNames: names })
    : undefined
  desk.update({ menu: completion && { completion, selected: 0 }, files: findMentionedFiles(text, cwd) })
}
