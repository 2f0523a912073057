/** Handles keys of pickers and of the sources panel. */
import { applyChoice } from './commands/run-command.ts'
import type { Key } from './input/key-decoder.ts'
import { getPanelHeight } from './render/live-area.ts'
import { scrollPanel } from './render/source-panel.ts'
import type { ChatSession } from './session/chat-session.ts'
import { insertFromHistory } from './session/search-history.ts'
import { filterChoices, type Picker, type SourcePanel } from './state/chat-state.ts'
import { submit } from './submit.ts'

export function handlePanelKey(session: ChatSession, key: Key): boolean {
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
  if (key.name === 'enter' || (panel.target === 'history' && (key.name === 'tab' || key.name === 'right'))) {
    const choice = choices[selected]
    if (choice && panel.target === 'history') {
      insertFromHistory(session, choice.id)
      if (key.name === 'enter') void submit(session, choice.id)
    }
    // The picker stays open until the choice is applied.
    else if (choice && panel.target !== 'history') void applyChoice(session, panel.target, choice.id)
    else session.store.update({ panel: undefined })
  } else if (key.name === 'text' && !key.ctrl && !key.alt)
    session.store.update({ panel: { ...panel, filter: panel.filter + key.text, selected: 0 } })
  else if (key.name === 'backspace') session.store.update({ panel: { ...panel, filter: panel.filter.slice(0, -1), selected: 0 } })
  else session.store.update({ panel: { ...panel, selected: moveSelection(selected, key, choices.length) } })
  return true
}
