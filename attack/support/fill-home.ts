/** Fills the home of a running daemon with resources of every kind, and reads everything that can be read. */
import { FAMILIES } from '../../src/contract/routes.ts'
import type { Json } from '../../test/harness/test-server.ts'
import { waitFor } from '../../test/harness/wait-for.ts'
import type { Client } from './client.ts'

export interface Snapshot {
  /** Resources by path. */
  resources: Record<string, Json>
  /** Names of the documents that searches find, by query. */
  searches: Record<string, string[]>
}

const QUERIES = ['How many days of leave do I have?', 'Who looks after the copper lanterns?']

const ALL_DAYS = 'start_date=2026-01-01&end_date=2126-01-01'
/** Statistics of an agent. Those of models also count the embedding of searches and rebuilt indexes. */
const STATISTICS = [`/usage/stats?entity_type=agent&entity_id={id}&${ALL_DAYS}`, `/analytics/conversations?agent_id={id}&${ALL_DAYS}`]

/** Uses only the embedded model, so that no other server is needed. */
export async function fillHome(client: Client): Promise<void> {
  const model = await client.create('/models', {
    name: 'Remote',
    provider: 'openai-compatible',
    model_id: 'remote-1',
    endpoint: 'http://127.0.0.1:9/v1',
    api_key: 'sk-kept-through-upgrades',
    pricing: { input: 0.5, output: 1.5 },
  })
  const template = await client.create('/prompt-templates', { name: 'Polite', template: 'Answer {{name}} in one sentence.' })
  const source = await client.create('/knowledge-sources', { name: 'Handbook', type: 'file' })
  const documents = `/knowledge-sources/${source.id}/documents`
  await client.create(documents, { name: 'leave.md', content: '# Leave\n\nEvery employee has twenty-five days of leave a year.\n' })
  await client.create(documents, { name: 'harbour.md', content: '# Harbour\n\nMarta looks after the copper lanterns of the harbour.\n' })
  const text = { name: 'Note', type: 'text', configuration: { text: 'The archive opens at nine.' } }
  await client.create('/knowledge-sources', text)
  const auth = { type: 'basic', username: 'ada', password: 'kept-through-upgrades' }
  await client.create('/knowledge-sources', {
    name: 'Repository',
    type: 'git',
    configuration: { repository: 'https://git.invalid/r.git' },
    auth,
  })
  const rag = await client.create('/rag-tools', { name: 'Handbook', knowledge_source_id: source.id })
  await client.create('/retrieval-tools', { name: 'Search', knowledge_source_ids: [source.id], search_method: 'hybrid' })
  const tool = await client.create('/api-tools', {
    name: 'Rooms',
    url: 'https://rooms.example.com/{room}',
    parameters: { type: 'object', properties: { room: { type: 'string' } } },
    auth: { type: 'bearer', token: 'kept-through-upgrades' },
    headers: { 'X-Key': 'kept-through-upgrades' },
  })
  const agent = await client.create('/agents', {
    name: 'Helper',
    tools: [rag.id],
    prompt_template_id: template.id,
    variables: { name: 'Ada' },
  })
  await client.create('/agents', { name: 'Caller', model_id: model.id, tools: [tool.id], temperature: 0.2, system_prompt: 'Be brief.' })
  await client.create('/usage/thresholds', { metric: 'tokens', limit: 1_000_000, period: 'day' })
  await client.create('/webhooks', { url: 'https://hooks.example.com/', events: ['conversation.completed'], enabled: false })
  await client.create('/tokens', { name: 'Script', role: 'editor' })
  await client.create('/tokens', { name: 'Member', role: 'member', user_id: 'ada' })
  await client.post(`/knowledge-sources/${source.id}/sync`, {})
  await waitForSyncs(client)
  const conversation = await client.create('/conversations', { agent_id: agent.id, user_id: 'ada' })
  for (const message of QUERIES) await client.create(`/conversations/${conversation.id}/messages`, { message })
  const unfinished = await client.create('/conversations', { agent_id: agent.id, title: 'Empty' })
  await client.create(`/conversations/${unfinished.id}/complete`, {})
  const test_cases = [{ input: QUERIES[0], expected_output: 'twenty-five' }]
  const evaluation = await client.create('/evaluations', { name: 'Leave', type: 'agent', target_id: agent.id, test_cases })
  const { run_id } = await client.create(`/evaluations/${evaluation.id}/run`, {})
  const isDone = async () => !['queued', 'running'].includes((await client.get(`/evaluations/${evaluation.id}/runs/${run_id}`)).data.status)
  await waitFor(isDone, { description: 'the end of the evaluation' })
}

/** Waits until no source is being synced. Indexes of earlier versions are rebuilt after a start. */
export async function waitForSyncs(client: Client, timeoutMs?: number): Promise<void> {
  const sources = await client.list('/knowledge-sources')
  const isDone = async (id: string) => {
    const { status, progress } = (await client.get(`/knowledge-sources/${id}`)).data
    return status !== 'syncing' && progress === null
  }
  for (const { id, name } of sources)
    await waitFor(() => isDone(id), { intervalMs: 200, description: `the end of the sync of ${name}`, ...(timeoutMs ? { timeoutMs } : {}) })
}

export async function readSnapshot(client: Client): Promise<Snapshot> {
  const snapshot: Snapshot = { resources: {}, searches: {} }
  const keep = async (path: string) => {
    const { status, text, data } = await client.get(path)
    if (status !== 200) throw new Error(`GET ${path} returned ${status}: ${text.slice(0, 300)}`)
    snapshot.resources[path] = data
    return data
  }
  for (const { name, path } of FAMILIES)
    for (const { id } of await client.list(path)) {
      await keep(`${path}/${id}`)
      if (name === 'knowledge-sources')
        for (const document of await client.list(`${path}/${id}/documents`)) await keep(`${path}/${id}/documents/${document.id}`)
      if (name === 'evaluations') await keep(`${path}/${id}/results`)
      if (name === 'agents') for (const route of STATISTICS) await keep(route.replace('{id}', id))
    }
  await keep('/settings')
  for (const { id } of await client.list('/retrieval-tools'))
    for (const query of QUERIES) {
      const { results } = await client.create(`/retrieval-tools/${id}/search`, { query, top_k: 1 })
      snapshot.searches[query] = results.map(({ metadata }: Json) => metadata.source)
    }
  return snapshot
}

/** Compares with an earlier snapshot. Fields that are new are ignored. */
export function compareSnapshots(before: Snapshot, after: Snapshot, ignored: readonly string[] = []): string[] {
  const problems: string[] = []
  for (const [path, expected] of Object.entries(before.resources)) findDifferences(path, expected, after.resources[path], ignored, problems)
  for (const [query, expected] of Object.entries(before.searches))
    if (JSON.stringify(after.searches[query]) !== JSON.stringify(expected))
      problems.push(`"${query}" finds ${JSON.stringify(after.searches[query])} instead of ${JSON.stringify(expected)}`)
  return problems
}

/** Appends every field of the expected value that is missing or another one. */
export function findDifferences(path: string, expected: Json, found: Json, ignored: readonly string[], problems: string[]): void {
  if (expected !== null && typeof expected === 'object' && found !== null && typeof found === 'object') {
    for (const [name, value] of Object.entries(expected))
      if (!ignored.includes(name)) findDifferences(`${path} ${name}`, value, found[name], ignored, problems)
    if (Array.isArray(expected) && expected.length !== found.length)
      problems.push(`${path} has ${found.length} items instead of ${expected.length}`)
  } else if (expected !== found)
    problems.push(`${path} is ${JSON.stringify(found)?.slice(0, 200)} instead of ${JSON.stringify(expected).slice(0, 200)}`)
}
