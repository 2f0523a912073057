/** How fast a provider's tokens come through our models, against the AI SDK's streamText called directly, in turns, in one process. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { streamText } from 'ai'
import type { ChatModel } from '../daemon/models/chat-model.ts'
import { ProviderRegistry } from '../daemon/models/providers/provider-registry.ts'
import { type Bench, type Figure, median, milliseconds } from './support/figures.ts'

const ROUNDS = 60
const TOKENS = 2_000
const LEAST_THROUGHPUT = 0.9

interface Times {
  firstMs: number
  wholeMs: number
}

type Reply = (tokens: number) => Promise<Times>

export const models: Bench = {
  name: 'models',
  async run() {
    const server = fork(fileURLToPath(new URL('support/token-server.js', import.meta.url)), { stdio: 'inherit' })
    const [port] = (await once(server, 'message')) as [number]
    const providers = new ProviderRegistry()
    try {
      return await compare(ours(providers, port), direct(port))
    } finally {
      await providers.close()
      server.disconnect()
    }
  },
}

async function compare(one: Reply, other: Reply): Promise<Figure[]> {
  const first: [number[], number[]] = [[], []]
  const rate: [number[], number[]] = [[], []]
  for (let round = -5; round < ROUNDS; round++) {
    // Whoever comes second finds a warmer processor: they take turns.
    const order = round % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const)
    for (const at of order) {
      const reply = at === 0 ? one : other
      const { firstMs } = await reply(1)
      const { wholeMs } = await reply(TOKENS)
      if (round < 0) continue
      first[at].push(firstMs)
      rate[at].push(TOKENS / wholeMs)
    }
  }
  const [ourFirst, theirFirst] = first.map(median) as [number, number]
  const [ourRate, theirRate] = rate.map(median) as [number, number]
  return [
    {
      name: 'first token of a model to streamText',
      figure: `${milliseconds(ourFirst)} to ${milliseconds(theirFirst)}`,
      ratio: ourFirst / theirFirst,
    },
    {
      name: `tokens a millisecond of ${TOKENS} to streamText`,
      figure: `${ourRate.toFixed(1)} to ${theirRate.toFixed(1)}`,
      ratio: ourRate / theirRate,
      bar: { least: LEAST_THROUGHPUT },
    },
  ]
}

function ours(providers: ProviderRegistry, port: number): Reply {
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
    contextTokens: 8_192,
    isContextKnown: false,
  })
  return (maxTokens) =>
    timed(async (arrived) => {
      for await (const part of model.stream({ messages: [{ role: 'user', content: 'Go' }], maxTokens })) if (part.type === 'text') arrived()
    })
}

function direct(port: number): Reply {
  const model = createOpenAICompatible({ name: 'bench', baseURL: `http://127.0.0.1:${port}/v1`, includeUsage: true }).chatModel('bench')
  return (maxOutputTokens) =>
    timed(async (arrived) => {
      for await (const _ of streamText({ model, prompt: 'Go', maxOutputTokens, maxRetries: 0 }).textStream) arrived()
    })
}

async function timed(reply: (arrived: () => void) => Promise<void>): Promise<Times> {
  const began = performance.now()
  let firstMs = Number.NaN
  await reply(() => {
    if (Number.isNaN(firstMs)) firstMs = performance.now() - began
  })
  return { firstMs, wholeMs: performance.now() - began }
}
