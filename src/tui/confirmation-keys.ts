/** Handles keys of a tool call that waits for a confirmation. */
import type { Key } from './input/key-decoder.ts'
import { CONFIRMATION_GRACE_MS } from './render/live-area.ts'
import { allowAlways } from './session/allow-tool.ts'
import type { ChatSession } from './session/chat-session.ts'
import { findEditedArguments } from './state/chat-state.ts'
import type { ToolCall } from './state/reply-reducer.ts'
import { findPendingConfirmation } from './state/transcript-reducer.ts'

/** Letters work if the input is empty; with Ctrl, y and n always do. */
export function handleConfirmationKey(session: ChatSession, key: Key): boolean {
  const { store, replies } = session
  const tool = findPendingConfirmation(store.state.transcript)
  if (!tool || key.name !== 'text') return false
  const isPlainKey =
    store.state.editor.text === '' && !key.ctrl && !key.alt && store.now() - store.state.waitingSince >= CONFIRMATION_GRACE_MS
  const letter = (isPlainKey || key.ctrl ? key.text : '').toLowerCase()
  if (letter === 'y' || letter === 'n')
    void replies.confirm(tool.id, letter === 'y', letter === 'y' ? findEditedArguments(store.state, tool) : undefined)
  else if (letter === 'e' && isPlainKey) void editArguments(session, tool)
  else if ((letter === 'a' || letter === 't') && isPlainKey) {
    void replies.confirm(tool.id, true, findEditedArguments(store.state, tool))
    void allowAlways(session, tool, letter === 'a' ? 'agent' : 'all')
  } else return false
  return true
}

/** Opens the arguments as JSON in the user's editor. The user is asked again with the changed ones. */
async function editArguments(session: ChatSession, tool: ToolCall): Promise<void> {
  const { store, terminal } = session
  const before = JSON.stringify(findEditedArguments(store.state, tool) ?? tool.arguments, null, 2)
  try {
    const text = await terminal.edit(before, 'arguments.json')
    if (text.trim() === before.trim()) return
    store.update({ editedArguments: { tool: tool.id, values: parseArguments(text) } })
  } catch (error) {
    store.addNote((error as Error).message, 'bad')
  }
}

export function parseArguments(text: string): Record<string, unknown> {
  let values: unknown
  try {
    values = JSON.parse(text)
  } catch (error) {
    throw new Error(`The arguments are not valid JSON: ${(error as Error).message}. They are unchanged.`)
  }
  if (typeof values !== 'object' || values === null || Array.isArray(values))
    throw new Error('The arguments must be a JSON object, such as {"id": 42}. They are unchanged.')
  return values as Record<string, unknown>
}
