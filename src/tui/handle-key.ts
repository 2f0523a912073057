/** Handles keys depending on what is open: a confirmation, a panel, a menu, or the input. */
import { toggleSources } from './commands/run-command.ts'
import { completeWord, handleMenuKey, updateCompletion } from './completion-keys.ts'
import { handleConfirmationKey } from './confirmation-keys.ts'
import { isCtrl, type Key } from './input/key-decoder.ts'
import { clearText, setText } from './input/line-editor.ts'
import { applyKey } from './input/line-editor-keys.ts'
import { handlePanelKey } from './panel-keys.ts'
import { getInputColumns } from './render/live-area.ts'
import type { ChatSession } from './session/chat-session.ts'
import { takeBackQueuedMessage } from './session/message-queue.ts'
import { openHistory } from './session/search-history.ts'
import { submit } from './submit.ts'

/** Shown after Ctrl+X, the first key of Ctrl+X Ctrl+E. */
const CHORD_HINT = 'Ctrl+E opens the editor.'
const CLEARED_HINT = 'Cleared. Ctrl+Y brings the text back.'

export function handleKey(session: ChatSession, key: Key): void {
  const { store } = session
  const { hint } = store.state
  if (handleProcessKey(session, key) || session.switcher.holdKey(key, () => handleKey(session, key))) return
  if (hint !== undefined) store.update({ hint: undefined })
  if (isCtrl(key, 'g') || (hint === CHORD_HINT && isCtrl(key, 'e'))) void editDraft(session)
  else if (!(handleGlobalKey(session, key) || handleConfirmationKey(session, key))) handleInputKey(session, toArrowKey(key))
}

/** As in shells, Ctrl+P and Ctrl+N are Up and Down. */
const toArrowKey = (key: Key): Key => ({
  ...key,
  ...(isCtrl(key, 'p') ? { name: 'up', ctrl: false } : isCtrl(key, 'n') ? { name: 'down', ctrl: false } : {}),
})

function handleInputKey(session: ChatSession, key: Key): void {
  if (handlePanelKey(session, key) || handleMenuKey(session, key)) return
  if (key.name === 'escape') stopOrClear(session)
  else if (key.name === 'tab') completeWord(session)
  else handleEditorKey(session, key)
}

/** Ctrl+C, Ctrl+D and Ctrl+Z work even while a conversation is loaded. */
function handleProcessKey(session: ChatSession, key: Key): boolean {
  if (isCtrl(key, 'c')) interrupt(session)
  else if (isCtrl(key, 'd') && session.store.state.editor.text === '') quitIfRepeated(session, 'Ctrl+D')
  else if (isCtrl(key, 'z')) session.terminal.suspend()
  else return false
  return true
}

/** Stops the reply, or closes the picker, or clears the input; with an empty input, the second one quits. */
function interrupt(session: ChatSession): void {
  const { store, replies } = session
  if (replies.stop()) return
  if (store.state.panel?.kind === 'picker') store.update({ panel: undefined })
  else if (!clearInput(session)) quitIfRepeated(session, 'Ctrl+C')
}

function quitIfRepeated({ store, quit }: ChatSession, key: string): void {
  const hint = `Press ${key} again to quit.`
  if (store.state.hint === hint) quit()
  else store.update({ hint })
}

function stopOrClear(session: ChatSession): void {
  if (!session.replies.stop()) clearInput(session)
}

/** Clears the text and no longer replaces the last message. Returns false if there is nothing to clear. */
function clearInput({ store }: ChatSession): boolean {
  const { editor, replacesLast } = store.state
  if (editor.text === '' && !replacesLast) return false
  const hint = editor.text === '' ? undefined : CLEARED_HINT
  store.update({ editor: clearText(editor), menu: undefined, files: [], replacesLast: false, hint })
  return true
}

function handleEditorKey(session: ChatSession, key: Key): void {
  const { editor, size } = session.store.state
  if (key.name === 'up' && editor.text === '' && takeBackQueuedMessage(session)) return
  const next = applyKey(editor, key, getInputColumns(size.columns))
  if (next) {
    session.store.update({ editor: next })
    if (next.text !== editor.text) updateCompletion(session, key.name === 'text' || key.name === 'backspace' || key.name === 'delete')
  } else if (key.name === 'enter') void submit(session, editor.text)
}

/** Keys that work everywhere. */
function handleGlobalKey(session: ChatSession, key: Key): boolean {
  const { store } = session
  if (isCtrl(key, 'l')) store.clearScreen()
  else if (isCtrl(key, 'o')) toggleSources(session)
  else if (isCtrl(key, 'r')) openHistory(session)
  else if (isCtrl(key, 'x')) store.update({ hint: CHORD_HINT })
  else if (isCtrl(key, 't')) toggleDetails(store)
  else return false
  return true
}

function toggleDetails(store: ChatSession['store']): void {
  const showsDetails = !store.state.showsDetails
  store.update({ showsDetails, hint: `Tool results and reasoning are ${showsDetails ? 'shown in full' : 'shortened'}.` })
}

/** Opens the input in the user's editor. */
async function editDraft(session: ChatSession): Promise<void> {
  const { store, terminal } = session
  const { text } = store.state.editor
  try {
    const edited = await terminal.edit(text, 'message.md')
    if (edited === text) return
    store.update({ editor: setText(store.state.editor, edited) })
    updateCompletion(session, false)
  } catch (error) {
    store.addNote((error as Error).message, 'bad')
  }
}
