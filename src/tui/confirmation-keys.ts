/** Handles keys of a tool call that waits for a confirmation. */
import { parseArguments } from '../cli/ask/parse-confirmation.ts'
import type { Key } from './input/key-decoder.ts'
import { setText } from './input/line-editor.ts'
import { CONFIRMATION_GRACE_MS } from './render/live-area.ts'
import { allowAlways } from './session/allow-tool.ts'
import type { ChatSession } from './session/chat-session.ts'
import { type EditedArguments, getEditedArguments, getUnconfirmedPermission, type UnconfirmedPermission } from './state/chat-state.ts'
import type { ToolCall } from './state/reply-reducer.ts'
import { findPendingConfirmation } from './state/transcript-reducer.ts'

/** Letters work if the input is empty; with Ctrl, y and n always do. */
export function handleConfirmationKey(session: ChatSession, key: Key): boolean {
  const { store, replies } = session
  const tool = findPendingConfirmation(store.state.transcript)
  if (!tool) return false
  const permission = getUnconfirmedPermission(store.state, tool)
  if (permission) return handlePermissionKey(session, tool, permission, key)
  if (key.name !== 'text') return false
  const isPlainKey =
    store.state.editor.text === '' && !key.ctrl && !key.alt && store.now() - store.state.waitingSince >= CONFIRMATION_GRACE_MS
  const letter = (isPlainKey || key.ctrl ? key.text : '').toLowerCase()
  if (letter === 'y' || letter === 'n')
    void replies.confirm(tool.id, letter === 'y', letter === 'y' ? getEditedArguments(store.state, tool)?.values : undefined)
  else if (letter === 'e' && isPlainKey) void editArguments(session, tool)
  else if ((letter === 'a' || letter === 't') && isPlainKey && tool.toolId !== undefined)
    store.update({ unconfirmedPermission: { tool: tool.id, scope: letter === 'a' ? 'agent' : 'all', letter: key.text } })
  else return false
  return true
}

/** Enter confirms a lasting permission. Text or a paste means that the letter was not an answer: both go to the input. */
function handlePermissionKey(session: ChatSession, tool: ToolCall, { scope, letter }: UnconfirmedPermission, key: Key): boolean {
  const { store, replies } = session
  store.update({ unconfirmedPermission: undefined })
  if (key.name === 'enter' && !key.alt && !key.shift) {
    void replies.confirm(tool.id, true, getEditedArguments(store.state, tool)?.values)
    void allowAlways(session, tool, scope)
    return true
  }
  if (key.name === 'escape') return true
  const isText = (key.name === 'text' && !key.ctrl && !key.alt) || key.name === 'paste'
  if (!isText) return handleConfirmationKey(session, key)
  store.update({ editor: setText(store.state.editor, letter) })
  return false
}

/** Opens the arguments as JSON in the user's editor. The user is asked again with the changed ones. */
async function editArguments(session: ChatSession, tool: ToolCall): Promise<void> {
  const { store, terminal } = session
  const before = JSON.stringify(getEditedArguments(store.state, tool)?.values ?? tool.arguments, null, 2)
  try {
    const text = await terminal.edit(before, 'arguments.json')
    if (text.trim() !== before.trim()) await changeArguments(session, tool, text)
  } catch (error) {
    store.addNote((error as Error).message, 'bad')
  }
}

/** Keeps other arguments, as JSON, until the call is allowed, and looks up the request that they would send. */
export async function changeArguments({ store, replies }: ChatSession, tool: ToolCall, text: string): Promise<EditedArguments> {
  const values = parseArguments(text)
  const request = tool.request && (await replies.previewRequest(tool.id, values))
  const editedArguments = { tool: tool.id, values, request }
  store.update({ editedArguments })
  return editedArguments
}
