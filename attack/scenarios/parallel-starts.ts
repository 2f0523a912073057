/** Many daemons started at once on one home: one runs, the others exit and say so. */
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { spawnDaemon, TOKEN, waitForExit } from '../../test/harness/daemon.ts'
import { withFolder } from '../support/daemon.ts'
import { type Scenario, scaleAmount } from '../support/scenario.ts'

const STARTS = 20
const EXIT_HOME_IN_USE = 75
const EXIT_TIMEOUT_MS = 120_000

export const parallelStarts: Scenario = {
  name: 'parallel-starts',
  promise: 'A home has one daemon, however many are started at once.',
  run: (options) =>
    withFolder(async (folder) => {
      const rounds = scaleAmount(50, options)
      const violations: string[] = []
      for (let round = 1; round <= rounds; round++) {
        // Every tenth home is new, so that its creation is attacked too.
        const problem = await startTogether(join(folder, `home-${Math.floor((round - 1) / 10)}`))
        if (problem !== undefined) violations.push(`round ${round}: ${problem}`)
      }
      return {
        amount: `${STARTS} starts at once, ${rounds} times`,
        figure: `${rounds - violations.length} times exactly one ran`,
        violations,
      }
    }),
}

/** Returns what went wrong. */
async function startTogether(home: string): Promise<string | undefined> {
  const children = Array.from({ length: STARTS }, () => spawnDaemon(home, { token: TOKEN }))
  const endings = children.map((child) => waitForExit(child, EXIT_TIMEOUT_MS))
  try {
    const ready = children.map((child) =>
      once(child.stdout as NodeJS.ReadableStream, 'data').then(([text]) => ({ child, text: String(text) })),
    )
    const allEnded = Promise.all(endings).then(() => undefined)
    const first = await Promise.race([...ready, allEnded])
    if (first === undefined) return `none ran: ${(await endings[0])?.stderr}`
    const others = await Promise.all(endings.filter((_, index) => children[index] !== first.child))
    const wrong = others.filter(({ code, stdout }) => code !== EXIT_HOME_IN_USE || stdout !== '')
    if (wrong.length > 0) return `${wrong.length} did not exit with ${EXIT_HOME_IN_USE}: ${JSON.stringify(wrong[0])}`
    const record = JSON.parse(readFileSync(join(home, 'daemon.json'), 'utf8')) as { pid: number; url: string }
    if (record.pid !== first.child.pid) return `daemon.json names ${record.pid} instead of ${first.child.pid}`
    const response = await fetch(`${record.url}/api/agents`, { headers: { authorization: `Bearer ${TOKEN}` } })
    return response.status === 200 ? undefined : `the daemon that ran returned ${response.status}`
  } finally {
    for (const child of children) child.kill('SIGTERM')
    await Promise.all(endings)
  }
}
