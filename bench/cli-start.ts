/** CPU time of `cadre --version`, `cadre agents list` and a completion of names, relative to an empty Node process. */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { createEnvironment, ROOT, request, withDaemon, withHome } from './support/daemon.ts'
import { type Benchmark, formatMilliseconds, median } from './support/figures.ts'

const ROUNDS = 25
const CLI_ENTRY = join(ROOT, 'bin', 'run.js')

export const cliStart: Benchmark = {
  name: 'cli-start',
  run: () =>
    withHome((home) =>
      withDaemon(home, async (daemon) => {
        for (let number = 1; number <= 20; number++)
          await request(daemon, 'POST', '/api/agents', { name: `Agent ${number}`, description: 'Answers questions' })
        const commands = {
          nothing: ['-e', '0'],
          version: [CLI_ENTRY, '--version'],
          list: [CLI_ENTRY, 'agents', 'list'],
          complete: [CLI_ENTRY, '__complete', 'fish', 'agents', 'show', ''],
        }
        const spent = { nothing: [] as number[], version: [] as number[], list: [] as number[], complete: [] as number[] }
        const names = Object.keys(commands) as (keyof typeof commands)[]
        // Alternates, so that other load affects all commands. The first round warms the disk cache.
        for (let round = 0; round <= ROUNDS; round++) {
          for (const name of names) {
            const cost = measureCpu([process.execPath, ...commands[name]], createEnvironment(home))
            if (round > 0) spent[name].push(cost)
          }
        }
        const [nothing, version, list] = [median(spent.nothing), median(spent.version), median(spent.list)]
        const complete = median(spent.complete)
        return [
          {
            name: 'cadre --version, CPU',
            figure: `${formatMilliseconds(version)} to ${formatMilliseconds(nothing)}`,
            ratio: version / nothing,
            bar: { most: 1.3 },
          },
          {
            name: 'cadre agents list, CPU',
            figure: `${formatMilliseconds(list)} to ${formatMilliseconds(nothing)}`,
            ratio: list / nothing,
            bar: { most: 3 },
          },
          {
            // Less than 300 ms where an empty process takes 104 ms.
            name: 'Tab for the names of agents, CPU',
            figure: `${formatMilliseconds(complete)} to ${formatMilliseconds(nothing)}`,
            ratio: complete / nothing,
            bar: { most: 2.8 },
          },
        ]
      }),
    ),
}

/** Returns the user and system time of a command in milliseconds. Measured by bash, because Node does not report the usage of children. */
function measureCpu(command: string[], env: NodeJS.ProcessEnv): number {
  const script = 'TIMEFORMAT="%3U %3S"; time "$@" >/dev/null 2>/dev/null'
  const { stderr, status } = spawnSync('bash', ['-c', script, 'bash', ...command], { env, encoding: 'utf8' })
  const [user, system] = stderr.trim().split(' ').map(Number)
  if (status !== 0 || user === undefined || system === undefined) throw new Error(`${command.join(' ')} exited with ${status}: ${stderr}`)
  return (user + system) * 1000
}
