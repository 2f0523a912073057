/** Handles keys depending on what is open: a confirmation, a panel, a menu, or the input. */
import { findMentionedFiles, listEntries } from '../cli/input/attachments.ts'
import { applyChoice, toggleSources } from './commands/run-command.ts'
import { applyCompletion, type Completion, type CompletionOption, findCompletion } from './input/completion.ts'
import { setText } from './input/editor.ts'
import { applyKey } from './input/editor-keys.ts'
import type { Key } from './input/key-decoder.ts'
import { CONFIRMATION_GRACE_MS, getInputColumns, getPanelHeight } from './render/live-area.ts'
import { scrollPanel } from './render/source-panel.ts'
import type { ChatSession } from './session/chat-session.ts'
import { retryLastMessage } from './session/send-message.ts'
import { filterChoices, type Picker, type SourcePanel } from './state/chat-state.ts'
import { findPendingConfirmation } from './state/transcript-reducer.ts'
import { submit } from './submit.ts'

const QUIT_HINT = 'Press Ctrl+C again to quit.'

export function handleKey(session: ChatSession, key: Key): void {
  const { store } = session
  const { hint } = store.state
  if (isCtrl(key, 'c')) {
    if (hint === QUIT_HINT) session.quit()
    else store.update({ hint: QUIT_HINT })
    return
  }
  if (session.switcher.holdKey(key, () => handleKey(session, key))) return
  if (hint !== undefined) store.update({ hint: undefined })
  if (handleGlobalKey(session, key) || handleConfirmationKey(session, key) || handlePanelKey(session, key) || handleMenuKey(session, key))
    return
  if (key.name === 'escape') stopReply(session)
  else if (key.name === 'tab') completeWord(session)
  else handleEditorKey(session, key)
}

function handleEditorKey(session: ChatSession, key: Key): void {
  const { editor, size } = session.store.state
  const next = applyKey(editor, key, getInputColumns(size.columns))
  if (next) {
    session.store.update({ editor: next })
    if (next.text !== editor.text) updateCompletion(session, key.name === 'text' || key.name === 'backspace' || key.name === 'delete')
  } else if (key.name === 'enter') void submit(session, editor.text)
}

const isCtrl = ({ name, ctrl, text }: Key, letter: string) => name === 'text' && ctrl && text === letter

/** Keys that work everywhere. */
function handleGlobalKey(session: ChatSession, key: Key): boolean {
  const { store } = session
  if (isCtrl(key, 'l')) store.redraw()
  else if (isCtrl(key, 'o')) toggleSources(session)
  else if (isCtrl(key, 'r')) void retryLastMessage(session)
  else if (isCtrl(key, 't')) {
    store.update({ showsDetails: !store.state.showsDetails })
    store.redraw()
  } else if (isCtrl(key, 'd') && store.state.editor.text === '') session.quit()
  else return false
  return true
}

/** Confirms or refuses a pending tool call: by letter if the input is empty, otherwise with Ctrl. */
function handleConfirmationKey({ store, replies }: ChatSession, key: Key): boolean {
  const tool = findPendingConfirmation(store.state.transcript)
  if (!tool || key.name !== 'text') return false
  const isPlainKey =
    store.state.editor.text === '' && !key.ctrl && !key.alt && store.now() - store.state.waitingSince >= CONFIRMATION_GRACE_MS
  const letter = (isPlainKey || key.ctrl ? key.text : '').toLowerCase()
  if (letter !== 'y' && letter !== 'n') return false
  void replies.confirm(tool.id, letter === 'y')
  return true
}

function stopReply({ store, replies }: ChatSession): void {
  if (!replies.stop() && store.state.editor.text !== '') store.update({ hint: 'Press Ctrl+U to clear the line.' })
}

function handlePanelKey(session: ChatSession, key: Key): boolean {
  const { panel, menu } = session.store.state
  // The menu of the input takes precedence over the sources panel.
  if (!panel || (panel.kind === 'sources' && menu)) return false
  if (key.name === 'escape') {
    session.store.update({ panel: undefined })
    return true
  }
  return panel.kind === 'picker' ? handlePickerKey(session, panel, key) : handleSourcesKey(session, panel, key)
}

const moveSelection = (selected: number, key: Key, count: number) => {
  const step = { up: -1, down: 1, pageup: -8, pagedown: 8 }[key.name as 'up'] ?? 0
  return Math.max(0, Math.min(count - 1, selected + step))
}

function handleSourcesKey({ store }: ChatSession, panel: SourcePanel, key: Key): boolean {
  const { length } = panel.citations
  const isForward = key.name === 'down' || key.name === 'pagedown'
  if (key.name === 'tab' && length > 0)
    store.update({ panel: { ...panel, selected: (panel.selected + (key.shift ? length - 1 : 1)) % length, top: undefined } })
  else if (isForward || key.name === 'up' || key.name === 'pageup') {
    const isPage = key.name.startsWith('page')
    store.update({ panel: scrollPanel(panel, { isForward, isPage }, store.state.size.columns, getPanelHeight(store.state)) })
  } else return false
  return true
}

function handlePickerKey(session: ChatSession, panel: Picker, key: Key): boolean {
  const choices = filterChoices(panel)
  const selected = Math.min(panel.selected, Math.max(0, choices.length - 1))
  if (key.name === 'enter') {
    const choice = choices[selected]
    // The picker stays open until the choice is applied.
    if (choice) void applyChoice(session, panel.target, choice.id)
    else session.store.update({ panel: undefined })
  } else if (key.name === 'text' && !key.ctrl && !key.alt)
    session.store.update({ panel: { ...panel, filter: panel.filter + key.text, selected: 0 } })
  else if (key.name === 'backspace') session.store.update({ panel: { ...panel, filter: panel.filter.slice(0, -1), selected: 0 } })
  else session.store.update({ panel: { ...panel, selected: moveSelection(selected, key, choices.length) } })
  return true
}

function handleMenuKey(session: ChatSession, key: Key): boolean {
  const { store } = session
  const { menu } = store.state
  if (!menu) return false
  const { completion, selected } = menu
  if (key.name === 'up' || key.name === 'down') {
    const { length } = completion.options
    store.update({ menu: { completion, selected: (selected + (key.name === 'up' ? length - 1 : 1)) % length } })
    return true
  }
  if (key.name === 'escape') {
    store.update({ menu: undefined })
    return true
  }
  const option = completion.options[selected]
  if (!option || (key.name !== 'tab' && key.name !== 'enter') || key.alt || key.shift) return false
  return key.name === 'tab' ? insertOption(session, completion, option) : acceptOption(session, completion, option)
}

function insertOption(session: ChatSession, completion: Completion, option: CompletionOption): true {
  const { store } = session
  const { text, cursor } = applyCompletion(store.state.editor.text, completion, option)
  store.update({ editor: setText(store.state.editor, text, cursor), menu: undefined })
  updateCompletion(session, option.hasMore)
  return true
}

/** Inserts the option on Enter; submits it as well if it is already typed or is a complete command. */
function acceptOption(session: ChatSession, completion: Completion, option: CompletionOption): boolean {
  const { editor } = session.store.state
  const { text } = applyCompletion(editor.text, completion, option)
  if (text.trim() === editor.text.trim()) {
    session.store.update({ menu: undefined })
    return false
  }
  insertOption(session, completion, option)
  if (completion.kind !== 'file' && !option.hasMore) void submit(session, session.store.state.editor.text)
  return true
}

/** Opens the completion menu on Tab, or inserts the only option. */
function completeWord(session: ChatSession): void {
  updateCompletion(session, true)
  const { menu } = session.store.state
  const [only, second] = menu?.completion.options ?? []
  if (menu && only && !second) insertOption(session, menu.completion, only)
}

/** Updates the completion menu and the list of attached files after the text changed. */
function updateCompletion({ store, cwd, agentNames, modelNames }: ChatSession, opensMenu: boolean): void {
  const { text, cursor } = store.state.editor
  const listNames = (command: string) => (command === 'agent' ? agentNames : command === 'model' ? modelNames : [])
  const completion = opensMenu
    ? findCompletion(text, cursor, { listEntries: (directory) => listEntries(cwd, directory), listNames })
    : undefined
  store.update({ menu: completion && { completion, selected: 0 }, files: findMentionedFiles(text, cwd) })
}
