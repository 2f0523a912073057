/** A streamed reply through the daemon, against the AI SDK called directly: how soon the first token is there, and how fast the rest. */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { streamText } from 'ai'
import { agentFor, conversationWith, streamed, type Task, type Told, textOf, withProvider } from './support/conversation.ts'
import { withDaemon, withHome } from './support/daemon.ts'
import { type Bench, median, milliseconds } from './support/figures.ts'

const ROUNDS = 15
const WARMING = 5
/** Beyond what the library itself needs; the ratio is held against this. */
const MOST_MORE_MS = 10

export const stream: Bench = {
  name: 'stream',
  run: () =>
    withHome((home) =>
      withProvider((provider) =>
        withDaemon(home, async (daemon) => {
          const agent = await agentFor(daemon, provider)
          const through = async (task: Task) => checked(task, await streamed(daemon, await conversationWith(daemon, agent), task))
          const directly = async (task: Task) => checked(task, await direct(provider, task))
          const first: number[] = []
          const rates: number[] = []
          const figures = { ours: [] as number[], library: [] as number[], oursTotal: [] as number[], libraryTotal: [] as number[] }
          for (let round = 0; round < WARMING + ROUNDS; round++) {
            const short = { name: 'token', tokens: 5, everyMs: 2 }
            const long = { name: 'token', tokens: 2_000, everyMs: 0 }
            const [ours, library] = [await through(short), await directly(short)]
            const [oursLong, libraryLong] = [await through(long), await directly(long)]
            if (round < WARMING) continue
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
              name: `first token, beyond the AI SDK, as a share of ${MOST_MORE_MS} ms`,
              figure: `${milliseconds(median(figures.ours))} to ${milliseconds(median(figures.library))}`,
              ratio: more / MOST_MORE_MS,
              bar: { most: 1 },
            },
            {
              name: '2,000 tokens, rate against the AI SDK',
              figure: `${milliseconds(median(figures.oursTotal))} to ${milliseconds(median(figures.libraryTotal))}`,
              ratio: median(rates),
              bar: { least: 0.9 },
            },
          ]
        }),
      ),
    ),
}

async function direct(baseURL: string, task: Task): Promise<Told> {
  const begun = performance.now()
  const provider = createOpenAICompatible({ name: 'scripted', baseURL, includeUsage: true })
  const told: Told = { text: '', firstMs: 0, totalMs: 0, end: 'message_end' }
  for await (const piece of streamText({ model: provider('scripted'), prompt: JSON.stringify(task) }).textStream) {
    if (told.text === '') told.firstMs = performance.now() - begun
    told.text += piece
  }
  told.totalMs = performance.now() - begun
  return told
}

/** A reply that is not whole makes the figure worthless. */
function checked(task: Task, told: Told): Told {
  if (told.end !== 'message_end' || told.text !== textOf(task))
    throw new Error(`${task.tokens} tokens came as ${told.text.length} characters and ${told.end}`)
  return told
}
