/** Costs of a libSQL server and a bucket on this machine, compared with a file and folders. Skipped without their programs. */
import { join } from 'node:path'
import { openServerDatabase } from '../daemon/store/remote/server-database.ts'
import type { DaemonProcess } from '../test/harness/daemon.ts'
import { BUCKET, isCephInstalled, ObjectStore } from '../test/harness/object-store/start-object-store.ts'
import { isSqldInstalled, Sqld } from '../test/harness/sqld/start-sqld.ts'
import { createAgent, createConversation, streamReply, withProvider } from './support/conversation.ts'
import { request, startDaemon, withHome } from './support/daemon.ts'
import { type Benchmark, type Figure, formatMilliseconds, median } from './support/figures.ts'
import { readRealPassages, readRealQuestions } from './support/mixed-passages.ts'
import { createSource, measureSync } from './support/sync-source.ts'

const ROUNDS = 200
const WARM_UP_ROUNDS = 20
const REPLIES = 30
const SYNCS = 2
const DOCUMENTS = 100
const SEARCHES = 60
const MAX_DELAY_MS = 15
const VAULT_KEY = Buffer.alloc(32, 'bench').toString('base64')

/** The same daemon on both kinds of stores. */
interface Daemons {
  embedded: DaemonProcess
  onServers: DaemonProcess
}

export const servers: Benchmark = {
  name: 'servers',
  async run() {
    if (!isSqldInstalled() || !isCephInstalled())
      return [{ name: 'costs of a libSQL server and a bucket', figure: 'skipped: not installed' }]
    const sqld = await Sqld.start()
    const store = await ObjectStore.start()
    try {
      const environment = {
        ...store.environment,
        CADRE_DATABASE_URL: sqld.url,
        CADRE_STORAGE_URL: `s3://${BUCKET}/bench`,
        CADRE_VAULT_KEY: VAULT_KEY,
      }
      return await withHome((home) => withDaemons(home, environment, (daemons) => measure(daemons, sqld.url)))
    } finally {
      store.remove()
      sqld.remove()
    }
  },
}

async function withDaemons<T>(home: string, environment: Record<string, string>, work: (daemons: Daemons) => Promise<T>): Promise<T> {
  const embedded = await startDaemon(home)
  try {
    const onServers = await startDaemon(join(home, '..', 'on-servers'), environment)
    try {
      return await work({ embedded, onServers })
    } finally {
      await onServers.stop()
    }
  } finally {
    await embedded.stop()
  }
}

const measure = async (daemons: Daemons, databaseUrl: string): Promise<Figure[]> => [
  await measureReads(daemons, databaseUrl),
  await measureFirstTokens(daemons),
  ...(await measureSyncsAndSearches(daemons)),
]

/** Alternates between both, so that other load affects both. */
async function alternate(daemons: Daemons, rounds: number, work: (daemon: DaemonProcess, round: number) => Promise<number>) {
  const spent = { embedded: [] as number[], onServers: [] as number[] }
  for (let round = 0; round < rounds; round++)
    for (const place of ['embedded', 'onServers'] as const) spent[place].push(await work(daemons[place], round))
  return spent
}

async function measureTime(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now()
  await work()
  return performance.now() - startedAt
}

async function measureReads(daemons: Daemons, url: string): Promise<Figure> {
  const database = await openServerDatabase({ url, token: undefined })
  try {
    const agents = new Map<DaemonProcess, string>()
    for (const daemon of Object.values(daemons) as DaemonProcess[])
      agents.set(daemon, (await request<{ data: { id: string } }>(daemon, 'POST', '/api/agents', { name: 'Ada' })).data.id)
    const roundTrips: number[] = []
    const read = async (daemon: DaemonProcess) => {
      if (daemon === daemons.onServers) roundTrips.push(await measureTime(() => database.all('SELECT 1')))
      return measureTime(() => request(daemon, 'GET', `/api/agents/${agents.get(daemon)}`))
    }
    await alternate(daemons, WARM_UP_ROUNDS, read)
    const { embedded, onServers } = await alternate(daemons, ROUNDS, read)
    const [extra, roundTrip] = [median(onServers) - median(embedded), median(roundTrips)]
    return {
      name: 'GET agent on servers, extra time relative to a round trip',
      figure: `${formatMilliseconds(extra)} to ${formatMilliseconds(roundTrip)}`,
      ratio: extra / roundTrip,
      bar: { most: 1.5 },
    }
  } finally {
    await database.close()
  }
}

async function measureFirstTokens(daemons: Daemons): Promise<Figure> {
  return withProvider(async (provider) => {
    const agents = new Map<DaemonProcess, string>()
    for (const daemon of Object.values(daemons) as DaemonProcess[]) agents.set(daemon, await createAgent(daemon, provider))
    const reply = async (daemon: DaemonProcess) => {
      const conversation = await createConversation(daemon, agents.get(daemon) as string)
      return (await streamReply(daemon, conversation, { name: 'token', tokens: 5, everyMs: 2 })).firstMs
    }
    await alternate(daemons, WARM_UP_ROUNDS / 4, reply)
    const { embedded, onServers } = await alternate(daemons, REPLIES, reply)
    return {
      name: `first token on servers, delay relative to ${MAX_DELAY_MS} ms`,
      figure: `${formatMilliseconds(median(onServers))} to ${formatMilliseconds(median(embedded))}`,
      ratio: (median(onServers) - median(embedded)) / MAX_DELAY_MS,
      bar: { most: 1 },
    }
  })
}

async function measureSyncsAndSearches(daemons: Daemons): Promise<Figure[]> {
  const passages = readRealPassages()
  const tools = new Map<DaemonProcess, string>()
  // The first sync loads the embedding model.
  const sync = async (daemon: DaemonProcess, round: number) => {
    const texts = passages.slice(round * DOCUMENTS, (round + 1) * DOCUMENTS)
    const source = await createSource(
      daemon,
      `sync ${round}`,
      texts.map((text, number) => ({ id: String(number), text })),
    )
    const { totalMs } = await measureSync(daemon, source)
    const tool = { name: `sync ${round}`, knowledge_source_ids: [source], search_method: 'hybrid', rerank: false }
    tools.set(daemon, (await request<{ data: { id: string } }>(daemon, 'POST', '/api/retrieval-tools', tool)).data.id)
    return totalMs
  }
  const syncs = await alternate(daemons, 1 + SYNCS, sync)
  const [embeddedSync, serverSync] = [median(syncs.embedded.slice(1)), median(syncs.onServers.slice(1))]
  const questions = readRealQuestions(SEARCHES)
  const search = (daemon: DaemonProcess, round: number) =>
    measureTime(() => request(daemon, 'POST', `/api/retrieval-tools/${tools.get(daemon)}/search`, { query: questions[round], top_k: 10 }))
  await alternate(daemons, WARM_UP_ROUNDS, search)
  const { embedded, onServers } = await alternate(daemons, SEARCHES, search)
  return [
    {
      name: `sync of ${DOCUMENTS} documents, throughput on servers`,
      figure: `${formatMilliseconds(serverSync)} to ${formatMilliseconds(embeddedSync)}`,
      ratio: embeddedSync / serverSync,
      bar: { least: 0.85 },
    },
    {
      name: 'warm hybrid search on servers, relative to embedded',
      figure: `${formatMilliseconds(median(onServers))} to ${formatMilliseconds(median(embedded))}`,
      ratio: median(onServers) / median(embedded),
      bar: { most: 1.5 },
    },
  ]
}
