/** The conversation that `--continue` means: the caller's newest that can be gone on with. */
import type { Static } from 'typebox'
import { call, pages } from '../../client/call.ts'
import type { Connection } from '../../client/request.ts'
import { CadreError } from '../../contract/errors.ts'
import { type ConversationItem, conversationRoutes } from '../../contract/families/conversations.ts'

type Conversation = Static<typeof ConversationItem>

/** One that was completed goes on with the next message, but completing it made it newer than what was said in it: only where none is active. */
export async function getLastConversation(connection: Connection, agent: string | undefined): Promise<Conversation> {
  const last = (await findNewest(connection, 'active', agent)) ?? (await findNewest(connection, 'completed', agent))
  if (!last) throw new CadreError('NOT_FOUND', 'There is no conversation to go on in.', { hint: 'Leave --continue out to begin one.' })
  return last
}

/** Nobody answers any more where the agent was deleted, and deleting it made its conversations the newest. */
async function findNewest(
  connection: Connection,
  status: Conversation['status'],
  agent: string | undefined,
): Promise<Conversation | undefined> {
  const query = { mine: true, status, sort: 'updated_at', order: 'desc', limit: 20, ...(agent === undefined ? {} : { agent_id: agent }) }
  const read = (page: number) => call(connection, conversationRoutes.list, { query: { ...query, page } as object })
  for await (const { data } of pages(read)) {
    const found = data.find(({ agent_id }) => agent_id !== null)
    if (found) return found
  }
  return undefined
}
