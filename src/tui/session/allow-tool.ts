/** Allows all further calls of a tool. */
import { setPermission } from '../../cli/resources/set-permission.ts'
import { quoteShellWord } from '../../cli/terminal/shell-quote.ts'
import { sanitizeLine } from '../../cli/terminal/text.ts'
import type { ToolCall } from '../state/reply-reducer.ts'
import type { ChatSession } from './chat-session.ts'
import { describeError } from './reconnecting-reply.ts'

/** For one agent or for all. Without the permission to store it, the tool is allowed until the chat ends. */
export async function allowAlways(session: ChatSession, { toolId, name }: ToolCall, scope: 'agent' | 'all'): Promise<void> {
  const { store, agent, replies } = session
  if (toolId === undefined || !agent) return
  replies.allowTool(toolId, scope === 'agent' ? { agent: agent.id } : 'all')
  const label = sanitizeLine(name)
  try {
    await setPermission(await session.client.getConnection(), toolId, scope === 'agent' ? agent.id : undefined, true)
    // The daemon knows it from the next reply on, and the user can take it back.
    void replies.done.then(() => replies.forgetAllowedTool(toolId))
    const undo = `cadre tools disallow ${quoteShellWord(name)}${scope === 'agent' ? ` --agent ${quoteShellWord(agent.name)}` : ''}`
    store.addNote(`${label} no longer asks${scope === 'agent' ? ` with ${sanitizeLine(agent.name)}` : ''}. To undo: ${undo}`, 'good')
  } catch (error) {
    store.addNote(`${label} no longer asks until you quit. It is not stored: ${describeError(error).error}`)
  }
}
