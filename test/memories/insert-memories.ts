/** Writes memories of many users directly to the store, because the API would take minutes. */
import { generateId } from '../../daemon/core/identifiers.ts'
import { normalizeFact } from '../../daemon/memories/compare-facts.ts'
import { encodeVector } from '../../daemon/memories/rank-memories.ts'
import { type Database, runLater } from '../../daemon/store/database.ts'
import { createRandom } from '../harness/create-random.ts'

const DIMENSIONS = 384

export const formatUser = (user: number): string => `user${user}`

/** A word that only the memories of this user contain, and that no name tells. */
export const formatSecretWord = (user: number): string => `marigold${(user * 7_919) % 1_000_003}x`
/** The word of any user. */
export const SECRET_WORD = /marigold\d+x/

/** Returns the id of the first memory of each user. */
export async function insertMemories(
  database: Database,
  { agentId, users, memoriesPerUser }: { agentId: string; users: number; memoriesPerUser: number },
): Promise<string[]> {
  const ids: string[] = []
  const now = new Date().toISOString()
  for (let user = 0; user < users; user++)
    await database.writeWithoutFlush(async (transaction) => {
      for (let number = 0; number < memoriesPerUser; number++) {
        const id = generateId('mem')
        if (number === 0) ids.push(id)
        const content = `The user likes ${formatSecretWord(user)} number ${number}`
        await runLater(
          transaction,
          `INSERT INTO memories (id, agent_id, user_id, content, source, has_untrusted_text, history, words, vector, created_at, updated_at)
            VALUES (?, ?, ?, ?, 'user', 0, '[]', ?, ?, ?, ?)`,
          [id, agentId, formatUser(user), content, normalizeFact(content), createVector(user * memoriesPerUser + number), now, now],
        )
      }
    })
  return ids
}

/** A normalized vector that differs from that of other numbers. */
function createVector(number: number): string {
  const random = createRandom(number)
  const values = Float32Array.from({ length: DIMENSIONS }, () => random() - 0.5)
  const length = Math.sqrt(values.reduce((sum, value) => sum + value * value, 0))
  return encodeVector(values.map((value) => value / length))
}
