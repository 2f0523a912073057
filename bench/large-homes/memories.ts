/** CPU time of a search in what an agent remembers about a user: with 100,000 memories of 1,000 users, and as many as a user can have. */
import { openDatabase } from '../../daemon/store/database.ts'
import { homePaths } from '../../src/config.ts'
import type { DaemonProcess } from '../../test/harness/daemon.ts'
import { formatUser, insertMemories } from '../../test/memories/insert-memories.ts'
import { readCpuSeconds } from '../support/cpu-time.ts'
import { request, startDaemon, withDaemon, withHome } from '../support/daemon.ts'
import { type Benchmark, type Figure, formatMilliseconds, median } from '../support/figures.ts'

const USERS = 1_000
const MEMORIES_PER_USER = 100
const MAX_MEMORIES = 1_000
const ROUNDS = 100
const MAX_SEARCH_MS = 50

export const memories: Benchmark = {
  name: 'memories',
  run: () =>
    withHome(async (home) => {
      const [many, most] = await createAgents(home)
      const database = openDatabase(homePaths({ CADRE_HOME: home }).database)
      await insertMemories(database, { agentId: many, users: USERS, memoriesPerUser: MEMORIES_PER_USER })
      await insertMemories(database, { agentId: most, users: 1, memoriesPerUser: MAX_MEMORIES })
      await database.close()
      return withDaemon(home, async (daemon) => [
        await measureSearch(daemon, many, 'memories of 1,000 users with 100 each', USERS),
        await measureSearch(daemon, most, 'memories of a user with 1,000', 1),
      ])
    }),
}

async function createAgents(home: string): Promise<[string, string]> {
  const daemon = await startDaemon(home)
  const create = async (name: string) =>
    (await request<{ data: { id: string } }>(daemon, 'POST', '/api/agents', { name, memory: true })).data.id
  const agents: [string, string] = [await create('Many users'), await create('One user')]
  await daemon.stop()
  return agents
}

async function measureSearch(daemon: DaemonProcess, agent_id: string, name: string, users: number): Promise<Figure> {
  const search = async (round: number) => {
    const body = { agent_id, user_id: formatUser(round % users), query: `Which number does the user like, ${round}?` }
    const { data } = await request<{ data: { memories: object[] } }>(daemon, 'POST', '/api/memories/search', body)
    if (data.memories.length !== 10) throw new Error(`Found ${data.memories.length} memories.`)
  }
  // Loads the model.
  await search(0)
  const times: number[] = []
  const before = readCpuSeconds(daemon.child.pid as number)
  for (let round = 0; round < ROUNDS; round++) {
    const startedAt = performance.now()
    await search(round)
    times.push(performance.now() - startedAt)
  }
  const cost = ((readCpuSeconds(daemon.child.pid as number) - before) / ROUNDS) * 1000
  return {
    name: `search in ${name}, CPU, relative to 50 ms`,
    figure: `${formatMilliseconds(cost)} (median duration ${formatMilliseconds(median(times))})`,
    ratio: cost / MAX_SEARCH_MS,
    bar: { most: 1 },
  }
}
