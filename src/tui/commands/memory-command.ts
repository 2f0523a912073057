/** The command /memory: shows, searches and undoes what the agent remembers about the user. */
import { findRemembered, type Remembered } from '../../cli/ask/notes/format-remembered.ts'
import { quoteShellWord } from '../../cli/terminal/shell-quote.ts'
import { sanitizeLine } from '../../cli/terminal/text.ts'
import { call } from '../../client/call.ts'
import type { Connection } from '../../client/request.ts'
import { handleError } from '../../contract/errors.ts'
import { memoryRoutes } from '../../contract/families/memory/memories.ts'
import type { ChatSession } from '../session/chat-session.ts'
import type { Entry } from '../state/transcript-reducer.ts'

const MAX_LISTED = 50

export async function manageMemory(session: ChatSession, argument: string): Promise<void> {
  const { agent, store } = session
  if (!agent) throw new Error('No agent is selected. To select one: /agents')
  const connection = await session.client.getConnection()
  if (argument === 'undo') return store.addNote(await undoLast(connection, listRemembered(store.state.transcript.entries)), 'good')
  const found =
    argument === ''
      ? (await call(connection, memoryRoutes.list, { query: { agent_id: agent.id, limit: MAX_LISTED } as never })).data
      : (await call(connection, memoryRoutes.search, { body: { agent_id: agent.id, query: argument } })).data.memories
  const lines = found.map(({ id, content }) => `${sanitizeLine(content)}  ${id}`)
  const hint = agent.memory
    ? ''
    : `\n${agent.name} does not remember. To change that: cadre agents update ${quoteShellWord(agent.name)} --memory`
  if (lines.length === 0) return store.addNote(`Nothing is remembered${argument === '' ? '' : ' about this'}.${hint}`)
  store.addNote(`${lines.join('\n')}\nTo change one: cadre memory edit ID, cadre memory delete ID${hint}`)
}

function listRemembered(entries: readonly Entry[]): Remembered[] {
  const parts = entries.flatMap((entry) => (entry.kind === 'reply' ? entry.parts : []))
  const calls = parts.flatMap((part) => (part.kind === 'tool' ? (findRemembered(part.tool) ?? []) : []))
  return calls.filter(({ isKnown }) => !isKnown)
}

/** Undoes the last fact that is still stored as the chat shows it, and restores the one that it replaced. */
async function undoLast(connection: Connection, calls: readonly Remembered[]): Promise<string> {
  const ignoreMissing = handleError('NOT_FOUND', () => undefined)
  for (const { id, content, replaced } of calls.toReversed()) {
    const current = await call(connection, memoryRoutes.get, { params: { id } }).catch(ignoreMissing)
    if (current?.data.content !== content) continue
    if (replaced === undefined) return (await call(connection, memoryRoutes.remove, { params: { id } })).message
    await call(connection, memoryRoutes.update, { params: { id }, body: { content: replaced } })
    return `Remembered again: ${sanitizeLine(replaced)}`
  }
  throw new Error('There is nothing to undo: nothing that was remembered in this chat is left.')
}
