/** The command /memory: shows, searches and undoes what the agent remembers about the user. */
import { findRemembered } from '../../cli/ask/notes/format-remembered.ts'
import { quoteShellWord } from '../../cli/terminal/shell-quote.ts'
import { sanitizeLine } from '../../cli/terminal/text.ts'
import { call } from '../../client/call.ts'
import { memoryRoutes } from '../../contract/families/memory/memories.ts'
import type { ChatSession } from '../session/chat-session.ts'
import type { Entry } from '../state/transcript-reducer.ts'

const MAX_LISTED = 50

export async function manageMemory(session: ChatSession, argument: string): Promise<void> {
  const { agent, store } = session
  if (!agent) throw new Error('No agent is selected. To select one: /agents')
  const connection = await session.client.getConnection()
  if (argument === 'undo') {
    const id = findLastMemory(store.state.transcript.entries)
    if (id === undefined) throw new Error('Nothing was remembered in this chat.')
    return store.addNote((await call(connection, memoryRoutes.remove, { params: { id } })).message, 'good')
  }
  const found =
    argument === ''
      ? (await call(connection, memoryRoutes.list, { query: { agent_id: agent.id, limit: MAX_LISTED } as never })).data
      : (await call(connection, memoryRoutes.search, { body: { agent_id: agent.id, query: argument } })).data.memories
  const lines = found.map(({ id, content }) => `${sanitizeLine(content)}  ${id}`)
  const hint = agent.memory
    ? ''
    : `\n${agent.name} does not remember. To change that: cadre agents update ${quoteShellWord(agent.name)} --memory`
  if (lines.length === 0) return store.addNote(`Nothing is remembered${argument === '' ? '' : ' about this'}.${hint}`)
  store.addNote(`${lines.join('\n')}\nTo change one: cadre memory edit, cadre memory delete${hint}`)
}

function findLastMemory(entries: readonly Entry[]): string | undefined {
  const calls = entries.flatMap((entry) =>
    entry.kind === 'reply' ? entry.parts.flatMap((part) => (part.kind === 'tool' ? [findRemembered(part.tool)] : [])) : [],
  )
  return calls.findLast((call) => call !== undefined)?.id
}
