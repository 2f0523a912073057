/** SIGTERM while replies stream: the daemon exits in time, and every reply is stored as its client saw it. */
import { once } from 'node:events'
import { request } from 'node:http'
import { join } from 'node:path'
import { scaleTimeout } from '../../src/deadline.ts'
import { EventDecoder } from '../../src/sse.ts'
import { TOKEN } from '../../test/harness/daemon.ts'
import { ScriptedProvider, streamReply } from '../../test/harness/scripted-provider.ts'
import type { Json } from '../../test/harness/test-server.ts'
import { waitFor } from '../../test/harness/wait-for.ts'
import { openDaemon, type RunningDaemon, withFolder } from '../support/daemon.ts'
import { type Scenario, scaleAmount } from '../support/scenario.ts'

const STREAMS = 50
const MAX_EXIT_MS = 10_000

interface ObservedReply {
  conversation: string
  messageId?: string
  text: string
  /** The last event. */
  end: string
  isClosed: boolean
}

export const sigterm: Scenario = {
  name: 'sigterm',
  promise: 'SIGTERM stops the daemon within 10 seconds, and replies that were streaming are marked as interrupted.',
  runsAlone: true,
  run: (options) =>
    withFolder(async (folder) => {
      const rounds = scaleAmount(10, options)
      const provider = await ScriptedProvider.start(
        'openai',
        streamReply({ text: Array.from({ length: 2_000 }, (_, at) => ` w${at}`) }, 20),
      )
      const violations: string[] = []
      let slowestMs = 0
      let daemon = await openDaemon(join(folder, 'home'))
      try {
        const model = await daemon.client.create('/models', { name: 'scripted', ...provider.model })
        const agent = await daemon.client.create('/agents', { name: 'talker', model_id: model.id })
        for (let round = 0; round < rounds; round++) {
          const replies = await Promise.all(Array.from({ length: STREAMS }, () => startReply(daemon, agent.id)))
          await waitFor(() => replies.every(({ text }) => text !== ''), { description: 'text in every stream' })
          const stoppedAt = performance.now()
          const code = await daemon.stop('SIGTERM')
          const elapsedMs = performance.now() - stoppedAt
          slowestMs = Math.max(slowestMs, elapsedMs)
          if (code !== 0) violations.push(`round ${round}: exit code ${code}`)
          if (elapsedMs > scaleTimeout(MAX_EXIT_MS)) violations.push(`round ${round}: exited after ${Math.round(elapsedMs)} ms`)
          await waitFor(() => replies.every(({ isClosed }) => isClosed), { description: 'the end of every stream' })
          daemon = await openDaemon(join(folder, 'home'))
          for (const reply of replies) violations.push(...(await checkStored(daemon, reply)))
        }
      } finally {
        await daemon.kill()
        await provider.close()
      }
      const figure = `exited after at most ${(slowestMs / 1000).toFixed(1)} s with status 0; ${violations.length} replies lost or wrong`
      return { amount: `${STREAMS} streams, ${rounds} times`, figure, violations }
    }),
}

async function startReply({ client, url }: RunningDaemon, agentId: string): Promise<ObservedReply> {
  const { id } = await client.create('/conversations', { agent_id: agentId })
  const reply: ObservedReply = { conversation: id, text: '', end: 'none', isClosed: false }
  const sent = request(`${url}/api/conversations/${id}/messages`, {
    method: 'POST',
    headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
    agent: false,
  })
  sent.on('error', () => {}) // the daemon is gone
  sent.end(JSON.stringify({ message: 'Go on', stream: true }))
  const [response] = await once(sent, 'response')
  const decoder = new EventDecoder()
  response.setEncoding('utf8').on('data', (piece: string) => {
    for (const { event, data } of decoder.push(piece)) {
      const value = JSON.parse(data) as Json
      if (event === 'message_start') reply.messageId = value.message_id
      if (event === 'message_delta') reply.text += value.text
      reply.end = event
    }
  })
  response.on('close', () => {
    reply.isClosed = true
  })
  response.on('error', () => {}) // the daemon closed the connection
  return reply
}

async function checkStored({ client }: RunningDaemon, { conversation, messageId, text, end }: ObservedReply): Promise<string[]> {
  const { data } = await client.get(`/conversations/${conversation}`)
  const stored = data?.messages.find(({ id }: Json) => id === messageId)
  if (stored === undefined) return [`the reply ${messageId} is lost`]
  const problems: string[] = []
  if (!['aborted', 'interrupted'].includes(stored.finish_reason)) problems.push(`${messageId} is stored as ${stored.finish_reason}`)
  if (!stored.content.startsWith(text))
    problems.push(`${messageId} lost text: stored ${stored.content.length}, sent ${text.length} characters`)
  if (end !== 'error') problems.push(`the stream of ${messageId} ended with ${end} instead of an error`)
  return problems
}
