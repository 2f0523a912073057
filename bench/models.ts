/** Latency and throughput of a provider's tokens through our models, relative to the AI SDK's streamText, in one process. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { streamText } from 'ai'
import type { ChatModel } from '../daemon/models/chat-model.ts'
import { ProviderRegistry } from '../daemon/models/providers/provider-registry.ts'
import { type Benchmark, type Figure, formatMilliseconds, median } from './support/figures.ts'

const ROUNDS = 60
const TOKENS = 2_000
const MIN_THROUGHPUT = 0.9

interface Times {
  firstMs: number
  totalMs: number
}

type Reply = (tokens: number) => Promise<Times>

export const models: Benchmark = {
  name: 'models',
  async run() {
    const server = fork(fileURLToPath(new URL('support/token-server.js', import.meta.url)), { stdio: 'inherit' })
    const [port] = (await once(server, 'message')) as [number]
    const providers = new ProviderRegistry()
    try {
      return await compare(createOurReply(providers, port), createReferenceReply(port))
    } finally {
      await providers.close()
      server.disconnect()
    }
  },
}

async function compare(ours: Reply, reference: Reply): Promise<Figure[]> {
  const first: [number[], number[]] = [[], []]
  const rate: [number[], number[]] = [[], []]
  for (let round = -5; round < ROUNDS; round++) {
    // The order alternates, because the second one runs on a warmer processor.
    const order = round % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const)
    for (const index of order) {
      const reply = index === 0 ? ours : reference
      const { firstMs } = await reply(1)
      const { totalMs } = await reply(TOKENS)
      if (round < 0) continue
      first[index].push(firstMs)
      rate[index].push(TOKENS / totalMs)
    }
  }
  const [ourFirst, theirFirst] = first.map(median) as [number, number]
  const [ourRate, theirRate] = rate.map(median) as [number, number]
  return [
    {
      name: 'first token, relative to streamText',
      figure: `${formatMilliseconds(ourFirst)} to ${formatMilliseconds(theirFirst)}`,
      ratio: ourFirst / theirFirst,
    },
    {
      name: `tokens per millisecond of ${TOKENS}, relative to streamText`,
      figure: `${ourRate.toFixed(1)} to ${theirRate.toFixed(1)}`,
      ratio: ourRate / theirRate,
      bar: { least: MIN_THROUGHPUT },
    },
  ]
}

function createOurReply(providers: ProviderRegistry, port: number): Reply {
  const model: ChatModel = providers.getModel({
    id: 'model_bench',
    name: 'bench',
    provider: 'openai-compatible',
    model_id: 'bench',
    endpoint: `http://127.0.0.1:${port}/v1`,
    api_key: null,
    allow_private: true,
    price: null,
    canCallTools: true,
    canReadImages: null,
    contextTokens: 8_192,
    isContextKnown: false,
  })
  return (maxTokens) =>
    measure(async (onToken) => {
      for await (const part of model.stream({ messages: [{ role: 'user', content: 'Go' }], maxTokens })) if (part.type === 'text') onToken()
    })
}

function createReferenceReply(port: number): Reply {
  const model = createOpenAICompatible({ name: 'bench', baseURL: `http://127.0.0.1:${port}/v1`, includeUsage: true }).chatModel('bench')
  return (maxOutputTokens) =>
    measure(async (onToken) => {
      for await (const _ of streamText({ model, prompt: 'Go', maxOutputTokens, maxRetries: 0 }).textStream) onToken()
    })
}

async function measure(reply: (onToken: () => void) => Promise<void>): Promise<Times> {
  const startTime = performance.now()
  let firstMs = Number.NaN
  await reply(() => {
    if (Number.isNaN(firstMs)) firstMs = performance.now() - startTime
  })
  return { firstMs, totalMs: performance.now() - startTime }
}
