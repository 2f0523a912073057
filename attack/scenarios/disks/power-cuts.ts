/** Cuts the power in mixed work: the disk keeps only what was flushed and some of the rest, and nothing acknowledged is lost. */
import { hash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { createRandom } from '../../../test/harness/create-random.ts'
import { ScriptedProvider, streamReply } from '../../../test/harness/scripted-provider.ts'
import { openDaemon, type RunningDaemon, withFolder } from '../../support/daemon.ts'
import { waitForSyncs } from '../../support/fill-home.ts'
import { MixedWork } from '../../support/mixed-work.ts'
import { canRecord, createRecorder, readCalls } from '../../support/power-cut/recorded-calls.ts'
import { UnreliableDisk } from '../../support/power-cut/unreliable-disk.ts'
import { type Scenario, scaleAmount } from '../../support/scenario.ts'

/** Homes that are attacked at the same time. */
const HOMES = 2
/** Writes before a cut. */
const MAX_WRITES = 100

export const powerCuts: Scenario = {
  name: 'power-cuts',
  promise: 'Nothing acknowledged is lost or duplicated by a power cut, if the disk keeps what it was told to flush.',
  async run(options) {
    const count = HOMES * scaleAmount(100 / HOMES, options)
    const amount = `${count} power cuts in mixed work`
    if (!canRecord()) return { amount, figure: '', violations: [], skipped: 'strace cannot record the calls of a program' }
    const provider = await ScriptedProvider.start(
      'openai',
      streamReply(({ body }) => ({ text: ['You said: ', body.messages.at(-1).content] }), 2),
    )
    try {
      const reports = await Promise.all(
        Array.from({ length: HOMES }, (_, index) =>
          withFolder((folder) => attackHome(realpathSync(folder), provider, count / HOMES, createRandom(options.seed + index))),
        ),
      )
      const acknowledged = reports.reduce((sum, report) => sum + report.acknowledged, 0)
      const violations = reports.flatMap(({ problems }) => problems)
      return { amount, figure: `${violations.length} of ${acknowledged} acknowledged writes lost or duplicated`, violations }
    } finally {
      await provider.close()
    }
  },
}

async function attackHome(folder: string, provider: ScriptedProvider, cuts: number, random: () => number) {
  const home = join(folder, 'home')
  mkdirSync(home, { mode: 0o700 })
  const report = { acknowledged: 0, problems: [] as string[] }
  let agentId = ''
  let work: MixedWork | undefined
  for (let cut = 1; ; cut++) {
    const recording = join(folder, `calls-${cut}`)
    const disk = UnreliableDisk.load(home)
    const daemon = await openDaemon(home, { launcher: createRecorder(recording) })
    const pid = readPid(home)
    try {
      if (work) report.problems.push(...(await work.check(daemon.client)).map((problem) => `after cut ${cut - 1}: ${problem}`))
      if (cut > cuts) {
        report.problems.push(...(await checkIndexes(daemon)))
        return report
      }
      agentId ||= await createAgent(daemon, provider)
      work = new MixedWork(daemon.client, agentId, `cut-${cut}`)
      let end: Promise<void> | undefined
      const cutAt = 1 + Math.floor(random() * MAX_WRITES)
      work.onAcknowledged = (count) => {
        if (count === cutAt) end = pause(random() * 20).then(() => void process.kill(pid, 'SIGKILL'))
      }
      await work.run()
      if (end === undefined) throw new Error(`the work ended before the power cut, after ${work.acknowledged} writes`)
      await end
      report.acknowledged += work.acknowledged
    } finally {
      if (daemon.child.exitCode === null) killIfRunning(pid)
      await daemon.exited // when strace has written everything
      await daemon.client.close()
    }
    disk.replay(await readCalls(recording))
    const differences = disk.compare()
    if (differences.length > 0)
      throw new Error(`the recording is incomplete: it does not explain ${differences.join(', ')}; it ends with\n${readEnd(recording)}`)
    disk.cut(random)
    report.problems.push(...work.listContents().flatMap((content) => checkOriginal(home, content)))
    rmSync(recording)
  }
}

/** The original of an acknowledged document is on the disk: a daemon that has indexed it would not notice its loss. */
function checkOriginal(home: string, content: string): string[] {
  const name = hash('sha256', content)
  const path = join(home, 'documents', name.slice(0, 2), name)
  return existsSync(path) && readFileSync(path, 'utf8') === content ? [] : [`the original of ${content.split('\n')[0]} is lost`]
}

/** Everything acknowledged can be indexed in the end. A sync that was interrupted again and again is started only by a user. */
async function checkIndexes({ client, home }: RunningDaemon): Promise<string[]> {
  const sources = await client.list('/knowledge-sources')
  for (const { id } of sources) await client.post(`/knowledge-sources/${id}/sync`)
  await waitForSyncs(client)
  const problems: string[] = []
  for (const { id } of sources) {
    const missing = (await client.list(`/knowledge-sources/${id}/documents`)).filter(({ status }) => status !== 'indexed')
    const { status, error, progress } = (await client.get(`/knowledge-sources/${id}`)).data
    const state = `its source is ${status}: ${JSON.stringify({ error, progress })}`
    for (const document of missing) problems.push(`${document.name} is ${document.status}: ${document.error}; ${state}`)
  }
  if (problems.length > 0) problems.push(...readLoggedErrors(home))
  return problems
}

/** The cause is only in the log, which is removed with the home. */
const readLoggedErrors = (home: string): string[] =>
  readFileSync(join(home, 'logs', 'daemon.log'), 'utf8')
    .split('\n')
    .filter((line) => line.includes('"err"'))
    .slice(-5)

/** The last lines without most of what was written. */
const readEnd = (recording: string): string =>
  readFileSync(recording, 'utf8')
    .trimEnd()
    .split('\n')
    .slice(-10)
    .map((line) => (line.length > 200 ? `${line.slice(0, 120)} … ${line.slice(-80)}` : line))
    .join('\n')

async function createAgent({ client }: RunningDaemon, provider: ScriptedProvider): Promise<string> {
  const model = await client.create('/models', { name: 'scripted', ...provider.model })
  return (await client.create('/agents', { name: 'talker', model_id: model.id })).id
}

/** The pid of the daemon, not that of strace. */
const readPid = (home: string): number => (JSON.parse(readFileSync(join(home, 'daemon.json'), 'utf8')) as { pid: number }).pid

function killIfRunning(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
