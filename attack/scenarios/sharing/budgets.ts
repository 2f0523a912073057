/** Many calls at once under a blocking threshold, before any call has ended and after small ones. */
import { ScriptedProvider, streamReply } from '../../../test/harness/scripted-provider.ts'
import { waitFor } from '../../../test/harness/wait-for.ts'
import { Client } from '../../support/client.ts'
import { type RunningDaemon, withDaemon } from '../../support/daemon.ts'
import { type Scenario, scaleAmount } from '../../support/scenario.ts'

/** Tokens of a call, as the provider reports them. */
const USAGE = { input: 40, output: 60 }
const CALL_TOKENS = 100

interface Burst {
  name: string
  /** Calls that end before the burst. */
  before: number
  limit: number
  body: object
  /** The largest number of admitted calls. */
  most: number
}

const BURSTS: readonly Burst[] = [
  { name: 'first calls, limit of one call', before: 0, limit: CALL_TOKENS, body: {}, most: 1 },
  { name: 'first calls, large limit', before: 0, limit: 1_000_000, body: {}, most: 1 },
  { name: 'calls with max_tokens', before: 0, limit: 10 * CALL_TOKENS, body: { max_tokens: CALL_TOKENS }, most: 10 },
  { name: 'calls after one of the same size', before: 1, limit: 10 * CALL_TOKENS, body: {}, most: 9 },
]

export const budgets: Scenario = {
  name: 'budgets',
  promise: 'A blocking threshold is exceeded by at most the calls that were running when it was reached, and by at most 100.',
  run: (options) =>
    withDaemon(async (daemon) => {
      const calls = scaleAmount(100, options, 20)
      const violations: string[] = []
      const figures: string[] = []
      for (const burst of BURSTS) {
        const admitted = await runBurst(daemon, burst, calls)
        figures.push(`${admitted}`)
        if (admitted > burst.most || admitted === 0)
          violations.push(`${burst.name}: ${admitted} of ${calls} calls were admitted instead of at most ${burst.most}`)
      }
      return { amount: `${BURSTS.length} bursts of ${calls} calls`, figure: `${figures.join(', ')} of ${calls} calls admitted`, violations }
    }),
}

/** Returns the number of calls that reached the provider while none of them ended. */
async function runBurst({ url }: RunningDaemon, { name, before, limit, body }: Burst, calls: number): Promise<number> {
  const client = new Client(url, calls + 1)
  let release = () => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  let arrived = 0
  const provider = await ScriptedProvider.start('openai', async (response, received, format) => {
    if (arrived++ >= before) await released
    await streamReply({ text: ['Yes.'], usage: USAGE })(response, received, format)
  })
  try {
    const model = await client.create('/models', { name, ...provider.model })
    await client.create('/usage/thresholds', {
      metric: 'tokens',
      limit,
      action: 'block',
      period: 'day',
      entity_type: 'model',
      entity_id: model.id,
    })
    const agent = await client.create('/agents', { name, model_id: model.id, ...body })
    const ask = async () => {
      const conversation = await client.create('/conversations', { agent_id: agent.id })
      return (await client.post(`/conversations/${conversation.id}/messages`, { message: 'Is it?' })).status
    }
    for (let call = 0; call < before; call++) await ask()
    let rejected = 0
    const answers = Array.from({ length: calls }, async () => {
      if ((await ask()) >= 400) rejected++
    })
    await waitFor(() => rejected + arrived - before >= calls, { description: 'all calls to be admitted or rejected' })
    release()
    await Promise.all(answers)
    return arrived - before
  } finally {
    release()
    await provider.close()
    await client.close()
  }
}
