/** Ends the daemon with kill -9 at random points in mixed work: nothing acknowledged is lost or duplicated. */
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import Database from 'libsql'
import { createRandom } from '../../test/harness/create-random.ts'
import { spawnDaemon, TOKEN } from '../../test/harness/daemon.ts'
import { ScriptedProvider, streamReply } from '../../test/harness/scripted-provider.ts'
import { openDaemon, type RunningDaemon, withFolder } from '../support/daemon.ts'
import { MixedWork } from '../support/mixed-work.ts'
import { type Scenario, scaleAmount } from '../support/scenario.ts'

/** Homes that are attacked at the same time. */
const HOMES = 2
/** Writes before a kill. */
const MAX_WRITES = 200
/** Every tenth kill hits the start instead of the work. */
const START_KILL_INTERVAL = 10

interface Report {
  acknowledged: number
  problems: string[]
}

export const kills: Scenario = {
  name: 'kills',
  promise: 'Nothing acknowledged is lost or duplicated by kill -9.',
  async run(options) {
    const count = scaleAmount(200, options, HOMES)
    const provider = await ScriptedProvider.start(
      'openai',
      streamReply(({ body }) => ({ text: ['You said: ', body.messages.at(-1).content] }), 2),
    )
    try {
      const reports = await Promise.all(
        Array.from({ length: HOMES }, (_, index) => {
          const kills = Math.floor(count / HOMES) + (index < count % HOMES ? 1 : 0)
          return withFolder((folder) => attackHome(join(folder, 'home'), provider, kills, createRandom(options.seed + index)))
        }),
      )
      const acknowledged = reports.reduce((sum, report) => sum + report.acknowledged, 0)
      const violations = reports.flatMap(({ problems }) => problems)
      const figure = `${violations.length} of ${acknowledged} acknowledged writes lost or duplicated`
      return { amount: `${count} kills in mixed work`, figure, violations }
    } finally {
      await provider.close()
    }
  },
}

async function attackHome(home: string, provider: ScriptedProvider, kills: number, random: () => number): Promise<Report> {
  const report: Report = { acknowledged: 0, problems: [] }
  let daemon = await openDaemon(home)
  const agentId = await createAgent(daemon, provider)
  for (let kill = 1; kill <= kills; kill++) {
    const work = new MixedWork(daemon.client, agentId, `kill-${kill}`)
    const killAt = 1 + Math.floor(random() * MAX_WRITES)
    const victim = daemon
    let killed: Promise<void> | undefined
    work.onAcknowledged = (count) => {
      if (count === killAt) killed = pause(random() * 20).then(() => victim.kill())
    }
    await work.run()
    if (killed === undefined) throw new Error(`the work ended before the kill, after ${work.acknowledged} writes`)
    await killed
    if (kill % START_KILL_INTERVAL === 0) await killDuringStart(home, random)
    daemon = await openDaemon(home)
    report.acknowledged += work.acknowledged
    report.problems.push(...(await work.check(daemon.client)))
  }
  const { body } = await daemon.client.get('/health')
  if (body.status !== 'healthy') report.problems.push(`health: ${JSON.stringify(body)}`)
  await daemon.stop()
  const [row] = checkDatabase(join(home, 'cadre.db'))
  if (row !== 'ok') report.problems.push(`the database is damaged: ${row}`)
  return report
}

async function createAgent({ client }: RunningDaemon, provider: ScriptedProvider): Promise<string> {
  const model = await client.create('/models', { name: 'scripted', ...provider.model })
  return (await client.create('/agents', { name: 'talker', model_id: model.id })).id
}

async function killDuringStart(home: string, random: () => number): Promise<void> {
  const child = spawnDaemon(home, { token: TOKEN })
  const exited = once(child, 'exit')
  await pause(random() * 700)
  child.kill('SIGKILL')
  await exited
}

function checkDatabase(path: string): string[] {
  const database = new Database(path)
  try {
    return (database.prepare('PRAGMA integrity_check').all() as { integrity_check: string }[]).map((row) => row.integrity_check)
  } finally {
    database.close()
  }
}
