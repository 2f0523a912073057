/** Jumps of the wall clock while replies stream and webhooks are delivered. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { scaleTimeout } from '../../src/deadline.ts'
import { checkResponse } from '../../test/harness/check-response.ts'
import { createRandom } from '../../test/harness/create-random.ts'
import { ScriptedProvider, streamReply } from '../../test/harness/scripted-provider.ts'
import type { Json } from '../../test/harness/test-server.ts'
import { waitFor } from '../../test/harness/wait-for.ts'
import { Receiver } from '../../test/webhooks/receiver.ts'
import { openDaemon, type RunningDaemon, withFolder } from '../support/daemon.ts'
import { type Scenario, scaleAmount } from '../support/scenario.ts'

const PRELOAD = fileURLToPath(new URL('../support/shifted-clock.js', import.meta.url))
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const JUMPS_MS = [-400 * DAY_MS, -DAY_MS, -HOUR_MS, -20_000, 20_000, HOUR_MS, DAY_MS, 400 * DAY_MS]
const STREAMS = 5
const RATE_LIMIT = 100_000
const WORDS = Array.from({ length: 60 }, (_, at) => ` w${at}`)

export const clockJumps: Scenario = {
  name: 'clock-jumps',
  promise: 'Clock jumps end no stream, lock nobody out, and change no order.',
  run: (options) =>
    withFolder(async (folder) => {
      const rounds = scaleAmount(24, options)
      const shiftPath = join(folder, 'shift')
      writeFileSync(shiftPath, '0')
      const provider = await ScriptedProvider.start('openai', streamReply({ text: WORDS }, 20))
      const receiver = await Receiver.start()
      const daemon = await openDaemon(join(folder, 'home'), {
        nodeOptions: ['--import', PRELOAD],
        environment: { ATTACK_CLOCK_SHIFT: shiftPath, CADRE_RATE_LIMIT: String(RATE_LIMIT) },
      })
      const violations: string[] = []
      try {
        const { client } = daemon
        const model = await client.create('/models', { name: 'scripted', ...provider.model })
        const agent = await client.create('/agents', { name: 'talker', model_id: model.id })
        await client.create('/webhooks', { url: receiver.url, events: ['conversation.completed'], allow_private_network: true })
        const random = createRandom(options.seed)
        let shift = 0
        const jump = async (by: number) => {
          shift += by
          writeFileSync(shiftPath, String(shift))
          await pause(100)
        }
        for (let round = 0; round < rounds; round++) {
          const by = JUMPS_MS[round < JUMPS_MS.length ? round : Math.floor(random() * JUMPS_MS.length)] as number
          const problems = await attackWithJump(daemon, agent.id, round, () => jump(by))
          violations.push(...problems.map((problem) => `jump by ${by / 1000} s: ${problem}`))
          if (!(await waitForDelivery(receiver, round))) violations.push(`jump by ${by / 1000} s: the webhook was not delivered`)
        }
      } finally {
        await daemon.kill()
        await Promise.all([provider.close(), receiver.close()])
      }
      return {
        amount: `${rounds} jumps of up to 400 days`,
        figure: `${violations.length} effects on ${rounds * STREAMS} streams and others`,
        violations,
      }
    }),
}

/** Jumps while replies stream, and returns everything that noticed. */
async function attackWithJump({ client }: RunningDaemon, agentId: string, round: number, jump: () => Promise<void>): Promise<string[]> {
  const problems: string[] = []
  const conversations: string[] = []
  for (let count = 0; count < STREAMS; count++)
    conversations.push((await client.create('/conversations', { agent_id: agentId, title: `round ${round}` })).id)
  const body = { name: `before ${round}` }
  const created = await client.post('/agents', body, { key: `clock-${round}` })
  const streams = conversations.map((id) => client.post(`/conversations/${id}/messages`, { message: 'first', stream: true }))
  await pause(300)
  await jump()
  for (const { text } of await Promise.all(streams))
    if (!text.includes('event: message_end')) problems.push(`a stream ended with ${text.slice(-300)}`)
  // Keys expire after 24 hours, which a jump forward may skip.
  const repeated = await client.post('/agents', body, { key: `clock-${round}` })
  if (repeated.status !== 201) problems.push(`a repeated request returned ${repeated.status}`)
  const reset = Number(created.headers['x-ratelimit-reset'])
  const resetAfter = Number(repeated.headers['x-ratelimit-reset'])
  if (!(resetAfter >= 0 && resetAfter <= 60)) problems.push(`the rate limit resets in ${resetAfter} s, before the jump in ${reset} s`)
  const [first = ''] = conversations
  await client.create(`/conversations/${first}/messages`, { message: 'second' })
  const { messages } = (await client.get(`/conversations/${first}`)).data
  const order = messages.map(({ role, content }: Json) => (role === 'user' ? content : 'reply')).join(', ')
  if (order !== 'first, reply, second, reply') problems.push(`the order of the messages is ${order}`)
  await client.create(`/conversations/${first}/complete`, {})
  for (const path of ['/status', '/agents', '/conversations', '/usage/stats', '/analytics/conversations']) {
    const { status, headers, text } = await client.get(path)
    try {
      checkResponse({ method: 'GET', url: `/api${path}`, status, headers, text })
    } catch (error) {
      problems.push((error as Error).message)
    }
  }
  return problems
}

/** Waits until the event of a round has arrived. */
const waitForDelivery = ({ received }: Receiver, round: number): Promise<boolean> =>
  waitFor(() => received.length > round, { timeoutMs: scaleTimeout(20_000), description: 'a delivery' }).catch(() => false)
