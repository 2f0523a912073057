/** Concurrent replies: each client gets exactly its own text. */
import { createAgent, createConversation, createExpectedText, streamReply, withProvider } from '../../bench/support/conversation.ts'
import { TOKEN } from '../../bench/support/daemon.ts'
import { formatMegabytes, readMemory, withDaemon } from '../support/daemon.ts'
import { type Scenario, scaleAmount } from '../support/scenario.ts'
import { formatSlowest, watchResponses } from '../support/watch-responses.ts'

const TOKENS = 50
/** The pace of hosted models. */
const TOKEN_INTERVAL_MS = 40
const MAX_MEMORY_BYTES = 600 * 1024 * 1024

export const streams: Scenario = {
  name: 'streams',
  promise: 'Concurrent replies are complete and never mixed up.',
  runsAlone: true,
  run: (options) =>
    withProvider((provider) =>
      withDaemon(
        async (daemon) => {
          const count = scaleAmount(1_000, options)
          const agent = await createAgent(daemon, provider)
          const tasks: { id: string; task: { name: string; tokens: number; everyMs: number } }[] = []
          for (let index = 0; index < count; index++)
            tasks.push({
              id: await createConversation(daemon, agent),
              task: { name: `stream${index}`, tokens: TOKENS, everyMs: TOKEN_INTERVAL_MS },
            })
          const others = watchResponses(daemon.url, TOKEN)
          const replies = await Promise.all(tasks.map(({ id, task }) => streamReply(daemon, id, task)))
          const times = await others.stop()
          const violations = [...times.failures]
          for (const [index, { text, end }] of replies.entries()) {
            const { task } = tasks[index] as (typeof tasks)[number]
            if (end !== 'message_end') violations.push(`${task.name} ended with ${end}`)
            if (text !== createExpectedText(task)) violations.push(`${task.name} got ${JSON.stringify(text.slice(0, 200))}`)
          }
          const memory = readMemory(daemon.child.pid, 'VmHWM')
          if (memory > MAX_MEMORY_BYTES) violations.push(`the daemon used ${formatMegabytes(memory)}`)
          const wrong = violations.length
          const figure = `${wrong} incomplete or mixed up; peak memory ${formatMegabytes(memory)}; ${formatSlowest(times)}`
          return { amount: `${count} concurrent streams of ${TOKENS} tokens`, figure, violations }
        },
        { token: TOKEN },
      ),
    ),
}
