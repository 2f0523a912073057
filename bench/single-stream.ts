/** Time to the first token and throughput of a streamed reply, relative to calling the AI SDK directly, and of /v1 relative to it. */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { streamText } from 'ai'
import {
  createAgent,
  createConversation,
  createExpectedText,
  type ReplyTask,
  type StreamedReply,
  streamCompletion,
  streamReply,
  withProvider,
} from './support/conversation.ts'
import { withDaemon, withHome } from './support/daemon.ts'
import { type Benchmark, formatMilliseconds, median } from './support/figures.ts'

const ROUNDS = 15
const WARM_UP_ROUNDS = 5
/** Allowed overhead over the AI SDK. */
const MAX_OVERHEAD_MS = 10
/** Allowed delay of the first token of /v1 over the native stream. */
const MAX_COMPLETION_DELAY_MS = 5
const CONCURRENT_COMPLETIONS = 200

export const singleStream: Benchmark = {
  name: 'stream',
  run: () =>
    withHome((home) =>
      withProvider((provider) =>
        withDaemon(home, async (daemon) => {
          const agent = await createAgent(daemon, provider)
          const streamThroughDaemon = async (task: ReplyTask) =>
            checkReply(task, await streamReply(daemon, await createConversation(daemon, agent), task))
          const streamFromProvider = async (task: ReplyTask) => checkReply(task, await streamDirectly(provider, task))
          const completions: number[] = []
          const completionDelays: number[] = []
          const first: number[] = []
          const rates: number[] = []
          const figures = { ours: [] as number[], library: [] as number[], oursTotal: [] as number[], libraryTotal: [] as number[] }
          for (let round = 0; round < WARM_UP_ROUNDS + ROUNDS; round++) {
            const short = { name: 'token', tokens: 5, everyMs: 2 }
            const long = { name: 'token', tokens: 2_000, everyMs: 0 }
            const [ours, library] = [await streamThroughDaemon(short), await streamFromProvider(short)]
            const completion = checkReply(short, await streamCompletion(daemon, agent, short))
            const [oursLong, libraryLong] = [await streamThroughDaemon(long), await streamFromProvider(long)]
            if (round < WARM_UP_ROUNDS) continue
            completions.push(completion.firstMs)
            completionDelays.push(completion.firstMs - ours.firstMs)
            first.push(ours.firstMs - library.firstMs)
            rates.push(libraryLong.totalMs / oursLong.totalMs)
            figures.ours.push(ours.firstMs)
            figures.library.push(library.firstMs)
            figures.oursTotal.push(oursLong.totalMs)
            figures.libraryTotal.push(libraryLong.totalMs)
          }
          const tasks = Array.from({ length: CONCURRENT_COMPLETIONS }, (_, index) => ({ name: `n${index}`, tokens: 50, everyMs: 20 }))
          const replies = await Promise.all(tasks.map((task) => streamCompletion(daemon, agent, task)))
          const mixedUp = replies.filter(({ text }, index) => text !== createExpectedText(tasks[index] as ReplyTask))
          const overheadMs = median(first)
          return [
            {
              name: `first token, overhead over the AI SDK, relative to ${MAX_OVERHEAD_MS} ms`,
              figure: `${formatMilliseconds(median(figures.ours))} to ${formatMilliseconds(median(figures.library))}`,
              ratio: overheadMs / MAX_OVERHEAD_MS,
              bar: { most: 1 },
            },
            {
              name: '2,000 tokens, rate relative to the AI SDK',
              figure: `${formatMilliseconds(median(figures.oursTotal))} to ${formatMilliseconds(median(figures.libraryTotal))}`,
              ratio: median(rates),
              bar: { least: 0.9 },
            },
            {
              name: `first token of /v1, delay over the native stream, relative to ${MAX_COMPLETION_DELAY_MS} ms`,
              figure: `${formatMilliseconds(median(completions))} to ${formatMilliseconds(median(figures.ours))}`,
              ratio: Math.max(0, median(completionDelays)) / MAX_COMPLETION_DELAY_MS,
              bar: { most: 1 },
            },
            {
              name: `${CONCURRENT_COMPLETIONS} concurrent streams of /v1, wrong replies`,
              figure: `${mixedUp.length}`,
              ratio: mixedUp.length,
              bar: { most: 0 },
            },
          ]
        }),
      ),
    ),
}

async function streamDirectly(baseURL: string, task: ReplyTask): Promise<StreamedReply> {
  const startedAt = performance.now()
  const provider = createOpenAICompatible({ name: 'scripted', baseURL, includeUsage: true })
  const reply: StreamedReply = { text: '', firstMs: 0, totalMs: 0, end: 'message_end' }
  for await (const piece of streamText({ model: provider('scripted'), prompt: JSON.stringify(task) }).textStream) {
    if (reply.text === '') reply.firstMs = performance.now() - startedAt
    reply.text += piece
  }
  reply.totalMs = performance.now() - startedAt
  return reply
}

/** Throws if the reply is incomplete. */
function checkReply(task: ReplyTask, reply: StreamedReply): StreamedReply {
  if (reply.end !== 'message_end' || reply.text !== createExpectedText(task))
    throw new Error(`${task.tokens} tokens arrived as ${reply.text.length} characters, ended by ${reply.end}`)
  return reply
}
