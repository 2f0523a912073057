/** Ten users, of whom one sends as many expensive requests as possible: the others wait hardly longer than without them. */
import { setTimeout as pause } from 'node:timers/promises'
import { Client } from '../../support/client.ts'
import { measureContention } from '../../support/cpu/measure-contention.ts'
import { waitUntilIdle } from '../../support/cpu/wait-until-idle.ts'
import { type RunningDaemon, withDaemon, withFolder } from '../../support/daemon.ts'
import { createFloods, createRequests, createToken, type Flood, type Office, prepareOffice, type Send } from '../../support/office.ts'
import { type Scenario, type ScenarioOptions, scaleAmount } from '../../support/scenario.ts'

const SECONDS = 9
/** Requests that the user who floods has open at once. */
const OPEN_REQUESTS = 20
/** How long that user waits after a refusal. */
const FLOOD_PAUSE_MS = 100
/** How long the others wait between requests. */
const PAUSE_MS = 1_500
/** How much longer than without a flood a response may take, if nothing else uses the cores. */
const MAX_WAIT_MS = 1_000

/** The rate limit that users have. */
const DEFAULTS = { environment: { CADRE_RATE_LIMIT: undefined } }

/** The response times to the others in milliseconds, by request. */
type Times = Record<string, number[]>

export const fairness: Scenario = {
  name: 'fairness',
  promise: 'No user makes another one wait more than a second.',
  runsAlone: true,
  run: (options) =>
    withFolder((folder) =>
      withDaemon(async (daemon) => {
        const office = await prepareOffice(daemon, folder)
        const violations: string[] = []
        const figures: string[] = []
        const contentions: number[] = []
        for (const flood of createFloods(office)) {
          // Just before each flood, because other work on the machine changes. What the last flood left behind does not count.
          await waitUntilIdle(daemon.child.pid ?? 0)
          const contention = await measureContention()
          const calm = await measureOthers(daemon, office, options)
          const flooding = startFlood(daemon, await createToken(daemon.client, `flood of ${flood.name}`), flood)
          const times = await measureOthers(daemon, office, options)
          const { answered, failures } = await flooding.stop()
          await flood.stop?.(daemon.client)
          // Without failures other than 429, the requests that were accepted have not ended.
          if (answered === 0 && failures.some((failure) => !failure.startsWith('429')))
            violations.push(`${flood.name}: no request succeeded: ${failures.slice(0, 3).join(' ')}`)
          for (const [request, found] of Object.entries(times)) {
            const [slowest, usual] = [Math.max(...found), Math.max(...(calm[request] ?? [0]))]
            if (slowest > usual + MAX_WAIT_MS * contention)
              violations.push(`${flood.name}: ${request} took ${Math.round(slowest)} ms, without it ${Math.round(usual)} ms`)
          }
          contentions.push(contention)
          figures.push(`${flood.name} ${formatTimes(times)} (${formatTimes(calm)})`)
          console.error(`  ${figures.at(-1)}, ${answered} answered, contention ${contention.toFixed(1)}`)
        }
        const [least, most] = [Math.min(...contentions).toFixed(1), Math.max(...contentions).toFixed(1)]
        const busy = `cores that took ${least} to ${most} times as long as unused ones`
        return {
          amount: `${figures.length} floods of ${OPEN_REQUESTS} open requests, ${office.tokens.length} other users`,
          figure: `slowest list/search/answer of others in ms (without the flood), on ${busy}: ${figures.join(', ')}`,
          violations,
        }
      }, DEFAULTS),
    ),
}

const formatTimes = (times: Times): string =>
  Object.values(times)
    .map((all) => Math.round(Math.max(...all)))
    .join('/')

const createSend =
  (client: Client, token: string): Send =>
  (method, path, body) =>
    client.call(method, path, body, { token })

/** Each of the others lists, searches and asks in turn, with pauses. */
async function measureOthers({ url }: RunningDaemon, office: Office, options: ScenarioOptions): Promise<Times> {
  const requests = Object.entries(createRequests(office))
  const times: Times = Object.fromEntries(requests.map(([name]) => [name, []]))
  const others = office.tokens
  const client = new Client(url, others.length)
  const rounds = scaleAmount((SECONDS * 1_000) / (PAUSE_MS * requests.length), options)
  await Promise.all(
    others.map(async (token, user) => {
      await pause((PAUSE_MS * user) / others.length)
      for (let round = 0; round < rounds; round++)
        for (const [name, request] of requests) {
          const startedAt = performance.now()
          const { status, text } = await request(createSend(client, token))
          times[name]?.push(performance.now() - startedAt)
          if (status >= 300) throw new Error(`${name} returned ${status}: ${text.slice(0, 300)}`)
          await pause(PAUSE_MS)
        }
    }),
  )
  await client.close()
  return times
}

/** Sends requests without a pause until the rate limit asks for one. */
function startFlood({ url }: RunningDaemon, token: string, flood: Flood) {
  const client = new Client(url, OPEN_REQUESTS)
  const send = createSend(client, token)
  const failures: string[] = []
  let answered = 0
  let isStopped = false
  const work = Array.from({ length: OPEN_REQUESTS }, async () => {
    while (!isStopped) {
      const { status, text } = await flood.send(send).catch((error: Error) => ({ status: 0, text: error.message }))
      if (status > 0 && status < 300) answered++
      // The client was closed, or the service asks it to wait.
      else if (!isStopped) {
        failures.push(`${status} ${text.slice(0, 200)}`)
        await pause(FLOOD_PAUSE_MS)
      }
    }
  })
  return {
    async stop() {
      isStopped = true
      await client.close()
      await Promise.all(work)
      return { answered, failures }
    },
  }
}
