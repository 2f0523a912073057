/** Runs the load while daemons are killed, the database server restarts and the object store pauses; then checks everything. */
import { setTimeout as pause } from 'node:timers/promises'
import type { DatabaseReader } from '../../daemon/store/database.ts'
import { openServerDatabase } from '../../daemon/store/remote/server-database.ts'
import { createRandom } from '../../test/harness/create-random.ts'
import { waitFor } from '../../test/harness/wait-for.ts'
import { ScriptedEmbedder } from '../../test/knowledge/scripted-embedder.ts'
import { Receiver } from '../../test/webhooks/receiver.ts'
import { withFolder } from '../support/daemon.ts'
import type { Outcome } from '../support/scenario.ts'
import { checkAgents, checkConversations, checkDocuments, checkEvaluations, checkEvents, checkUsage } from './check.ts'
import { ChaosClient } from './client.ts'
import { Cluster } from './cluster.ts'
import { Conversations } from './conversations.ts'
import { Agents, Documents, Evaluations } from './load.ts'
import { NumberedProvider } from './provider.ts'

export interface ChaosOptions {
  minutes: number
  seed: number
  /** Seconds without the object store. Default: 10. */
  storagePauseSeconds?: number
  /** A folder for the logs of the daemons. */
  logs?: string | undefined
  report?(line: string): void
}

const SOURCES = 3
/** Of daemons, in milliseconds. */
const KILL_INTERVAL = [2_000, 5_000] as const
const RESTART_DELAY = [100, 2_000] as const
/** Work of ended daemons is taken over within 30 seconds, and then takes some seconds. */
const DRAIN_TIMEOUT_MS = 90_000

export function runChaos(options: ChaosOptions): Promise<Outcome> {
  return withFolder(async (folder) => {
    const random = createRandom(options.seed)
    const cluster = await Cluster.start(folder)
    const [provider, embedder, receiver] = await Promise.all([NumberedProvider.start(random), ScriptedEmbedder.start(), Receiver.start()])
    const client = new ChaosClient(cluster.urls, random)
    try {
      return await attack(options, random, { cluster, provider, embedder, receiver, client })
    } finally {
      client.stopping.abort()
      await cluster.close()
      if (options.logs !== undefined) cluster.copyLogs(options.logs)
      await Promise.all([provider.close(), embedder.close(), receiver.close()])
    }
  })
}

interface Parts {
  cluster: Cluster
  provider: NumberedProvider
  embedder: ScriptedEmbedder
  receiver: Receiver
  client: ChaosClient
}

async function attack(options: ChaosOptions, random: () => number, parts: Parts): Promise<Outcome> {
  const { cluster, provider, embedder, receiver, client } = parts
  const { report = () => {} } = options
  const model = await client.post('/models', { name: 'scripted', ...provider.model }, 'model')
  const agent = await client.post('/agents', { name: 'talker', model_id: model.id }, 'agent')
  const embedding = await client.post('/models', { name: 'embedder', model_id: 'embedder', ...embedder.model }, 'embedder')
  const events = ['conversation.completed', 'evaluation.finished']
  await client.post('/webhooks', { url: receiver.url, events, allow_private_network: true }, 'webhook')
  const documents: Documents[] = []
  for (let index = 0; index < SOURCES; index++) {
    const source = await client.post('/knowledge-sources', { name: `source ${index}`, type: 'file' }, `source-${index}`)
    const tool = { name: `search ${index}`, knowledge_source_ids: [source.id], embedding_model: embedding.id }
    await client.post('/retrieval-tools', tool, `tool-${index}`)
    documents.push(new Documents(client, source.id))
  }
  const agents = new Agents(client)
  const conversations = new Conversations(client, agent.id, random)
  const evaluations = new Evaluations(client, agent.id)

  const endsAt = Date.now() + options.minutes * 60_000
  const violations: string[] = []
  const repeat = async (work: () => Promise<void>) => {
    try {
      while (Date.now() < endsAt) await work()
    } catch (error) {
      violations.push((error as Error).stack ?? String(error))
    }
  }
  const load = [
    ...Array.from({ length: 4 }, () => repeat(() => conversations.run())),
    ...documents.map((each) => repeat(() => each.run())),
    repeat(() => agents.run()),
    repeat(() => evaluations.run()),
  ]
  await Promise.all([killDaemons(cluster, endsAt, random), disturbServers(cluster, options, report)])
  report(`killed ${cluster.kills} daemons; waiting for the end of the work`)
  await cluster.waitForRestarts()
  await Promise.all(load)

  const database = await openServerDatabase({ url: cluster.sqld.url, token: undefined })
  try {
    for (const { sourceId } of documents) await client.post(`/knowledge-sources/${sourceId}/sync`, undefined, `last-${sourceId}`)
    violations.push(...(await waitForEnd(client, database, documents)))
    violations.push(...conversations.problems, ...(await checkAgents(client, agents)), ...(await checkConversations(client, conversations)))
    for (const each of documents) violations.push(...(await checkDocuments(client, database, cluster.storage, each)))
    violations.push(...(await checkEvaluations(client, database, evaluations)))
    violations.push(...(await checkEvents(database, receiver, conversations, evaluations)))
    violations.push(...(await checkUsage(database, provider, embedder, conversations)))
  } finally {
    await database.close()
  }
  const count = (amount: number, noun: string) => `${amount} ${noun}`
  const figures = [
    count(conversations.replies, 'replies'),
    `${conversations.streams} streams (${conversations.resumes} times resumed, ${conversations.interrupted} interrupted)`,
    count(
      documents.reduce((sum, { current }) => sum + current.size, 0),
      'documents',
    ),
    count(evaluations.all.length, 'runs'),
    count(new Set(receiver.received.map(({ id }) => id)).size, `events in ${receiver.received.length} deliveries`),
    count(agents.all.length, 'agents'),
    `${client.requests} requests, ${client.repeated} repeated (${client.formatReasons()})`,
    `${provider.calls} model calls`,
  ]
  return { amount: `${cluster.kills} kills in ${options.minutes} minutes`, figure: figures.join('; '), violations }
}

const between = ([least, most]: readonly [number, number], random: () => number) => least + random() * (most - least)

async function killDaemons(cluster: Cluster, endsAt: number, random: () => number): Promise<void> {
  for (;;) {
    await pause(between(KILL_INTERVAL, random))
    if (Date.now() >= endsAt) return
    await cluster.kill(random(), between(RESTART_DELAY, random))
  }
}

/** The server restarts after a third and two thirds of the time, and the object store pauses in between. */
async function disturbServers(cluster: Cluster, options: ChaosOptions, report: (line: string) => void): Promise<void> {
  const third = (options.minutes * 60_000) / 3
  const pauseMs = (options.storagePauseSeconds ?? 10) * 1000
  await pause(third)
  report('the database server restarts')
  await cluster.restartDatabase(1_000)
  await pause(Math.max(0, third / 2 - pauseMs / 2))
  report('the object store pauses')
  await cluster.pauseStorage(pauseMs)
  await pause(Math.max(0, third / 2 - pauseMs / 2))
  report('the database server restarts')
  await cluster.restartDatabase(1_000)
}

/** Waits until nothing is under way. Returns what is. */
async function waitForEnd(client: ChaosClient, reader: DatabaseReader, documents: readonly Documents[]): Promise<string[]> {
  const sql = `SELECT (SELECT count(*) FROM replies_under_way) AS replies,
    (SELECT count(*) FROM deliveries WHERE status = 'pending') AS deliveries,
    (SELECT count(*) FROM evaluation_runs WHERE status IN ('queued', 'running')) AS runs,
    (SELECT count(*) FROM usage_calls WHERE status = 'open') AS calls`
  let left = ''
  const isDone = async () => {
    const row = (await reader.all<Record<string, number>>(sql))[0] ?? {}
    const counts = Object.entries(row).filter(([, count]) => count > 0)
    for (const { sourceId } of documents) {
      const { status, progress } = (await client.get(`/knowledge-sources/${sourceId}`)).data
      if (status === 'syncing' || progress !== null) counts.push([`syncs of ${sourceId}`, 1])
    }
    left = counts.map(([name, count]) => `${count} ${name}`).join(', ')
    return left === ''
  }
  try {
    await waitFor(isDone, { timeoutMs: DRAIN_TIMEOUT_MS, intervalMs: 500 })
    return []
  } catch (error) {
    return [`${left} did not end within ${DRAIN_TIMEOUT_MS / 1000} s: ${(error as Error).message}`]
  }
}
