/** Homes of all released versions are opened by this one, also if the first start is killed. */
import { once } from 'node:events'
import { cpSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { createRandom } from '../../test/harness/create-random.ts'
import { type DaemonOptions, spawnDaemon } from '../../test/harness/daemon.ts'
import type { Client } from '../support/client.ts'
import { explainError, openDaemon, withFolder } from '../support/daemon.ts'
import { compareSnapshots, readSnapshot, type Snapshot, waitForSyncs } from '../support/fill-home.ts'
import { extractHome, listReleases } from '../support/released-homes.ts'
import { type Scenario, scaleAmount } from '../support/scenario.ts'

/** Rebuilt indexes have other passages and a later sync. */
const CHANGED_BY_UPGRADE = ['chunks', 'passages', 'statistics', 'progress', 'last_sync', 'updated_at', 'last_used_at']
const PRELOAD = fileURLToPath(new URL('../support/shifted-clock.js', import.meta.url))
const MAX_START_MS = 2_500

export const upgrades: Scenario = {
  name: 'upgrades',
  promise: 'A home of every released version opens, and everything in it can be read.',
  run: (options) =>
    withFolder(async (folder) => {
      const kills = scaleAmount(10, options)
      const random = createRandom(options.seed)
      const violations: string[] = []
      const releases = listReleases()
      let read = 0
      for (const release of releases) {
        const { home, snapshot, writtenAt } = extractHome(release, join(folder, release))
        const daemonOptions = setClock(writtenAt, join(folder, `${release}-shift`))
        read += Object.keys(snapshot.resources).length
        const killed = join(folder, `${release}-killed`)
        cpSync(home, killed, { recursive: true })
        for (let kill = 0; kill < kills; kill++) await killDuringStart(killed, daemonOptions, random() * MAX_START_MS)
        for (const place of [home, killed])
          violations.push(...(await checkHome(place, daemonOptions, snapshot)).map((problem) => `${release}: ${problem}`))
      }
      const figure = `${read} resources compared, ${violations.length} missing or changed`
      return { amount: `${releases.length} released version, opened after 0 and ${kills} kills`, figure, violations }
    }),
}

/** The daemon believes that the home was just written. Otherwise it completes the conversations that have been idle for a day. */
function setClock(now: Date, shiftPath: string): DaemonOptions {
  writeFileSync(shiftPath, String(now.getTime() - Date.now()))
  return { nodeOptions: ['--import', PRELOAD], environment: { ATTACK_CLOCK_SHIFT: shiftPath } }
}

async function checkHome(home: string, options: DaemonOptions, snapshot: Snapshot): Promise<string[]> {
  // The token in the home must work, so none is set.
  const daemon = await openDaemon(home, { ...options, token: undefined })
  try {
    await waitForSyncs(daemon.client)
    await syncParkedSources(daemon.client)
    const problems = compareSnapshots(snapshot, await readSnapshot(daemon.client), CHANGED_BY_UPGRADE)
    const [agent] = await daemon.client.list('/agents?name=Helper')
    const { id } = await daemon.client.create('/conversations', { agent_id: agent.id })
    const reply = await daemon.client.create(`/conversations/${id}/messages`, { message: 'How many days of leave do I have?' })
    if (!reply.content.includes('twenty-five')) problems.push(`the agent answers ${JSON.stringify(reply.content)}`)
    return problems
  } catch (error) {
    throw await explainError(daemon, error as Error)
  } finally {
    await daemon.kill()
  }
}

/** After two kills during the rebuild of an index, a user has to start it again (docs/decisions/0029-parked-jobs.md). */
async function syncParkedSources(client: Client): Promise<void> {
  for (const { id } of await client.list('/knowledge-sources?status=error')) {
    const { error } = (await client.get(`/knowledge-sources/${id}`)).data
    if (error.startsWith('The daemon ended twice')) await client.create(`/knowledge-sources/${id}/sync`, {})
  }
  await waitForSyncs(client)
}

async function killDuringStart(home: string, options: DaemonOptions, afterMs: number): Promise<void> {
  const child = spawnDaemon(home, options)
  const exited = once(child, 'exit')
  await pause(afterMs)
  child.kill('SIGKILL')
  await exited
}
