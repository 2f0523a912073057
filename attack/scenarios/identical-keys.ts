/** Many requests with one Idempotency-Key at the same time: one effect, and the same response for all. */
import { ScriptedProvider, streamReply } from '../../test/harness/scripted-provider.ts'
import { type RunningDaemon, withDaemon } from '../support/daemon.ts'
import { type Scenario, scaleAmount } from '../support/scenario.ts'

const REQUESTS = 50

interface KeyedRequest {
  path: string
  body: object
  /** Counts the effects. */
  count(): Promise<number>
}

export const identicalKeys: Scenario = {
  name: 'identical-keys',
  promise: 'Requests with the same Idempotency-Key have one effect and one response.',
  run: (options) =>
    withDaemon(async (daemon) => {
      const provider = await ScriptedProvider.start('openai', streamReply({ text: ['Once ', 'only.'] }, 50))
      const violations: string[] = []
      const rounds = scaleAmount(10, options)
      let requests = 0
      try {
        const agent = await createAgent(daemon, provider)
        for (let round = 0; round < rounds; round++)
          for (const request of await createRequests(daemon, agent.id, provider)) {
            requests += REQUESTS
            violations.push(...(await sendTogether(daemon, request, `key-${round}-${request.path}`)))
          }
      } finally {
        await provider.close()
      }
      const figure = `${violations.length} with a second effect or another response`
      return { amount: `${requests / REQUESTS} requests, each sent ${REQUESTS} times at once`, figure, violations }
    }),
}

async function createAgent({ client }: RunningDaemon, provider: ScriptedProvider) {
  const model = await client.create('/models', { name: 'scripted', ...provider.model })
  return client.create('/agents', { name: 'talker', model_id: model.id })
}

async function createRequests({ client }: RunningDaemon, agentId: string, provider: ScriptedProvider): Promise<KeyedRequest[]> {
  const countList = (path: string) => async () => (await client.get(`${path}?limit=1`)).body.pagination.total as number
  const source = await client.create('/knowledge-sources', { name: 'uploads', type: 'file' })
  const conversation = await client.create('/conversations', { agent_id: agentId })
  const documents = `/knowledge-sources/${source.id}/documents`
  const messages = `/conversations/${conversation.id}/messages`
  const hook = { url: 'https://hooks.example.com/', events: ['conversation.completed'] }
  const evaluation = { name: 'e', type: 'agent', target_id: agentId, test_cases: [{ input: 'x', expected_output: 'x' }] }
  const { id } = await client.create('/evaluations', evaluation)
  return [
    { path: '/agents', body: { name: 'once' }, count: countList('/agents') },
    { path: '/tokens', body: { name: 'once', role: 'viewer' }, count: countList('/tokens') },
    { path: '/webhooks', body: hook, count: countList('/webhooks') },
    { path: '/conversations', body: { agent_id: agentId }, count: countList('/conversations') },
    { path: documents, body: { name: 'once.md', content: 'once' }, count: countList(documents) },
    { path: messages, body: { message: 'once' }, count: async () => countCalls(provider) },
    { path: `/evaluations/${id}/run`, body: {}, count: countList(`/evaluations/${id}/runs`) },
  ]
}

/** Counts the model calls for the message. The evaluation calls the model too. */
const countCalls = ({ received }: ScriptedProvider) => received.filter(({ body }) => body.messages.at(-1).content === 'once').length

async function sendTogether({ client }: RunningDaemon, { path, body, count }: KeyedRequest, key: string): Promise<string[]> {
  const before = await count()
  const responses = await Promise.all(Array.from({ length: REQUESTS }, () => client.post(path, body, { key })))
  const effects = (await count()) - before
  const problems: string[] = []
  if (effects !== 1) problems.push(`${path} had ${effects} effects`)
  const different = new Set(responses.map(({ status, data }) => JSON.stringify([status, data])))
  if (different.size !== 1) problems.push(`${path} had ${different.size} responses: ${[...different].slice(0, 2).join(' and ')}`)
  if ((responses[0]?.status ?? 500) >= 300) problems.push(`${path} returned ${responses[0]?.status}: ${responses[0]?.text}`)
  const first = responses.filter(({ headers }) => headers['idempotent-replayed'] === undefined).length
  if (first !== 1) problems.push(`${path}: ${first} responses are not marked as replayed`)
  return problems
}
