/** Whose conversations are, for those who see others' too: one's own need no name beside them. */
import { call } from '../client/call.ts'
import type { Connection } from '../client/request.ts'
import { conversationRoutes } from '../contract/conversations.ts'
import type { Shown } from './output.ts'
import type { Row } from './table.ts'

/** The user that the caller's own conversations belong to; undefined where there are none yet. */
async function ownUser(connection: Connection): Promise<string | undefined> {
  return (await call(connection, conversationRoutes.list, { query: { mine: true, limit: 1 } })).data[0]?.user_id
}

/** A table of conversations, with whose each is where it is somebody else's. */
export async function withWhose(connection: Connection, rows: readonly Row[]): Promise<Shown> {
  const own = await ownUser(connection)
  const data = rows.map((row) => ({ ...row, of: row.user_id === own ? '' : row.user_id }))
  const others = data.some((row) => row.of !== '')
  return { data, columns: ['id', 'title', ...(others ? ['of'] : []), 'status', 'updated_at'] }
}
