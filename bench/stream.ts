/** A streamed reply through the daemon, against the AI SDK called directly: how soon the first token is there, and how fast the rest. */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { streamText } from 'ai'
import {
  createAgent,
  createConversation,
  createExpectedText,
  type ReplyTask,
  type StreamedReply,
  streamReply,
  withProvider,
} from './support/conversation.ts'
import { withDaemon, withHome } from './support/daemon.ts'
import { type Benchmark, formatMilliseconds, median } from './support/figures.ts'

const ROUNDS = 15
const WARM_UP_ROUNDS = 5
/** Beyond what the library itself needs; the ratio is held against this. */
const MAX_OVERHEAD_MS = 10

export const stream: Benchmark = {
  name: 'stream',
  run: () =>
    withHome((home) =>
      withProvider((provider) =>
        withDaemon(home, async (daemon) => {
          const agent = await createAgent(daemon, provider)
          const through = async (task: ReplyTask) =>
            checkReply(task, await streamReply(daemon, await createConversation(daemon, agent), task))
          const directly = async (task: ReplyTask) => checkReply(task, await streamDirectly(provider, task))
          const first: number[] = []
          const rates: number[] = []
          const figures = { ours: [] as number[], library: [] as number[], oursTotal: [] as number[], libraryTotal: [] as number[] }
          for (let round = 0; round < WARM_UP_ROUNDS + ROUNDS; round++) {
            const short = { name: 'token', tokens: 5, everyMs: 2 }
            const long = { name: 'token', tokens: 2_000, everyMs: 0 }
            const [ours, library] = [await through(short), await directly(short)]
            const [oursLong, libraryLong] = [await through(long), await directly(long)]
            if (round < WARM_UP_ROUNDS) continue
            first.push(ours.firstMs - library.firstMs)
            rates.push(libraryLong.totalMs / oursLong.totalMs)
            figures.ours.push(ours.firstMs)
            figures.library.push(library.firstMs)
            figures.oursTotal.push(oursLong.totalMs)
            figures.libraryTotal.push(libraryLong.totalMs)
          }
          const more = median(first)
          return [
            {
              name: `first token, beyond the AI SDK, as a share of ${MAX_OVERHEAD_MS} ms`,
              figure: `${formatMilliseconds(median(figures.ours))} to ${formatMilliseconds(median(figures.library))}`,
              ratio: more / MAX_OVERHEAD_MS,
              bar: { most: 1 },
            },
            {
              name: '2,000 tokens, rate against the AI SDK',
              figure: `${formatMilliseconds(median(figures.oursTotal))} to ${formatMilliseconds(median(figures.libraryTotal))}`,
              ratio: median(rates),
              bar: { least: 0.9 },
            },
          ]
        }),
      ),
    ),
}

async function streamDirectly(baseURL: string, task: ReplyTask): Promise<StreamedReply> {
  const begun = performance.now()
  const provider = createOpenAICompatible({ name: 'scripted', baseURL, includeUsage: true })
  const told: StreamedReply = { text: '', firstMs: 0, totalMs: 0, end: 'message_end' }
  for await (const piece of streamText({ model: provider('scripted'), prompt: JSON.stringify(task) }).textStream) {
    if (told.text === '') told.firstMs = performance.now() - begun
    told.text += piece
  }
  told.totalMs = performance.now() - begun
  return told
}

/** A reply that is not whole makes the figure worthless. */
function checkReply(task: ReplyTask, told: StreamedReply): StreamedReply {
  if (told.end !== 'message_end' || told.text !== createExpectedText(task))
    throw new Error(`${task.tokens} tokens came as ${told.text.length} characters and ${told.end}`)
  return told
}
