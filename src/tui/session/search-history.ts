import { sanitizeLine } from '../../cli/terminal/text.ts'
import { setText } from '../input/line-editor.ts'
import type { ChatSession } from './chat-session.ts'

/** Opens a picker with the newest text first, filtered by the input; pressed again, selects the next older match. */
export function openHistory({ store, history }: ChatSession): void {
  const { panel, editor } = store.state
  if (panel?.kind === 'picker') {
    if (panel.target === 'history') store.update({ panel: { ...panel, selected: panel.selected + 1 } })
    return
  }
  // Other chats may have added texts since this one was opened.
  const texts = new Set([...editor.history, ...readStored(history)].reverse())
  if (texts.size === 0) {
    store.update({ hint: 'The history is empty.' })
    return
  }
  const choices = [...texts].map((text) => ({ id: text, label: text, note: '' }))
  const filter = editor.text.includes('\n') ? '' : sanitizeLine(editor.text)
  store.update({ panel: { kind: 'picker', target: 'history', title: 'History', choices, filter, selected: 0 }, menu: undefined })
}

function readStored(history: ChatSession['history']): string[] {
  try {
    return history?.read() ?? []
  } catch {
    return [] // optional: the texts of this chat are in memory
  }
}

/** Inserts a text of the history instead of the input. */
export function insertFromHistory({ store }: ChatSession, text: string): void {
  store.update({ panel: undefined, editor: setText(store.state.editor, text) })
}
