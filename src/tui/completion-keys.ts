/** Handles keys of the completion menu. */
import { findMentionedFiles, listEntries } from '../cli/input/attachments.ts'
import { applyCompletion, type Completion, type CompletionOption, findCompletion } from './input/completion.ts'
import type { Key } from './input/key-decoder.ts'
import { setText } from './input/line-editor.ts'
import type { ChatSession } from './session/chat-session.ts'
import { submit } from './submit.ts'

export function handleMenuKey(session: ChatSession, key: Key): boolean {
  const { store } = session
  const { menu } = store.state
  if (!menu) return false
  const { completion, selected } = menu
  if (key.name === 'up' || key.name === 'down') {
    const { length } = completion.options
    const isUp = key.name === 'up'
    store.update({ menu: { completion, selected: isUp && selected <= 0 ? length - 1 : (selected + (isUp ? -1 : 1)) % length } })
    return true
  }
  if (key.name === 'escape') {
    store.update({ menu: undefined })
    return true
  }
  const option = completion.options[key.name === 'tab' ? Math.max(0, selected) : selected]
  if (!option && key.name === 'enter') store.update({ menu: undefined })
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
export function completeWord(session: ChatSession): void {
  updateCompletion(session, true)
  const { menu } = session.store.state
  const [only, second] = menu?.completion.options ?? []
  if (menu && only && !second) insertOption(session, menu.completion, only)
}

/** Updates the completion menu and the list of attached files after the text changed. */
export function updateCompletion({ store, cwd, agentNames, modelNames }: ChatSession, opensMenu: boolean): void {
  const { text, cursor } = store.state.editor
  const listNames = (command: string) => (command === 'agent' ? agentNames : command === 'model' ? modelNames : [])
  const completion = opensMenu
    ? findCompletion(text, cursor, { listEntries: (directory) => listEntries(cwd, directory), listNames })
    : undefined
  // After the slash of a folder, Enter must not attach a file that was not chosen.
  const selected = completion?.kind === 'file' && text[cursor - 1] === '/' ? -1 : 0
  store.update({ menu: completion && { completion, selected }, files: findMentionedFiles(text, cwd) })
}
