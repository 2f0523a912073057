import { conversationTopic } from '../../src/cli/resources/topics/conversations.ts'
import { deleteCommand } from '../../src/cli/resources/verbs/delete.ts'
import { formatCount } from '../../src/cli/terminal/format-quantity.ts'
import { quoteShellWord } from '../../src/cli/terminal/shell-quote.ts'
import { call } from '../../src/client/call.ts'
import type { Connection } from '../../src/client/request.ts'
import { memoryRoutes } from '../../src/contract/families/memory/memories.ts'

/** What an agent remembered in a conversation outlives it. */
async function describeMemories(connection: Connection, id: string): Promise<string | undefined> {
  const { data, pagination } = await call(connection, memoryRoutes.list, { query: { conversation_id: id, limit: 1 } as never })
  const [memory] = data
  if (!memory) return undefined
  const { total } = pagination
  const command = `cadre memory delete --all --user ${quoteShellWord(memory.user_id)} --conversation ${id}`
  const kept = total === 1 ? '1 memory of it is kept. To delete it' : `${formatCount(total)} memories of it are kept. To delete them`
  return `${kept}: ${command}`
}

export default deleteCommand(
  conversationTopic,
  [{ command: "cadre conversations delete 'Leave in summer'", description: 'Delete a conversation and its messages' }],
  describeMemories,
)
