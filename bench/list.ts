/** A page of 20 out of 100,000 agents, relative to a page of 20 out of 100: lists must not slow down with the number of records. */
import { mkdirSync } from 'node:fs'
import { get, Agent as HttpAgent } from 'node:http'
import { agentRecords, type StoredAgent } from '../daemon/agents/store.ts'
import { generateId } from '../daemon/core/identifiers.ts'
import { openDatabase } from '../daemon/store/database.ts'
import { migrate } from '../daemon/store/migrate.ts'
import { homePaths } from '../src/config.ts'
import type { DaemonProcess } from '../test/harness/daemon.ts'
import { TOKEN, withDaemon, withHome } from './support/daemon.ts'
import { type Benchmark, type Figure, formatMilliseconds, median } from './support/figures.ts'

const SMALL_TOTAL = 100
const LARGE_TOTAL = 100_000
const PAGE_SIZE = 20
const ROUNDS = 150

type Query = (total: number) => string

const PAGES: { name: string; query: Query; hasBar: boolean }[] = [
  { name: 'first page', query: () => '', hasBar: true },
  { name: 'first page by name', query: () => 'sort=name&order=asc', hasBar: true },
  { name: 'last page', query: (total) => `page=${total / PAGE_SIZE}`, hasBar: true },
  { name: 'middle page', query: (total) => `page=${Math.ceil(total / PAGE_SIZE / 2)}`, hasBar: false },
  { name: 'filter, half match', query: () => 'temperature=0.5', hasBar: false },
]

export const list: Benchmark = {
  name: 'list',
  run: () =>
    withHome((small) =>
      withHome(async (large) => {
        await insertAgents(small, SMALL_TOTAL)
        await insertAgents(large, LARGE_TOTAL)
        return withDaemon(small, (few) => withDaemon(large, (many) => compare(few, many)))
      }),
    ),
}

async function compare(few: DaemonProcess, many: DaemonProcess): Promise<Figure[]> {
  const connections = new HttpAgent({ keepAlive: true, maxSockets: 1 })
  const figures: Figure[] = []
  for (const { name, query, hasBar } of PAGES) {
    const [ofFew, ofMany]: [number[], number[]] = [[], []]
    // Alternates. The first rounds are a warm-up.
    for (let round = -20; round < ROUNDS; round++) {
      const [fewMs, manyMs] = [
        await measureRequest(few, query(SMALL_TOTAL), connections),
        await measureRequest(many, query(LARGE_TOTAL), connections),
      ]
      if (round < 0) continue
      ofFew.push(fewMs)
      ofMany.push(manyMs)
    }
    const [small, large] = [median(ofFew), median(ofMany)]
    figures.push({
      name: `20 of ${LARGE_TOTAL.toLocaleString('en')}: ${name}`,
      figure: `${formatMilliseconds(large)} to ${formatMilliseconds(small)}`,
      ratio: large / small,
      ...(hasBar ? { bar: { most: 1.5 } } : {}),
    })
  }
  connections.destroy()
  return figures
}

/** Returns the milliseconds from the request to the last byte of the response. */
async function measureRequest({ url }: DaemonProcess, query: string, agent: HttpAgent): Promise<number> {
  const startedAt = performance.now()
  const body = await new Promise<string>((resolve, reject) => {
    const request = get(
      `${url}/api/agents?limit=${PAGE_SIZE}&${query}`,
      { agent, headers: { authorization: `Bearer ${TOKEN}` } },
      (response) => {
        let text = ''
        response.setEncoding('utf8').on('data', (part: string) => {
          text += part
        })
        response.on('end', () => resolve(text)).on('error', reject)
      },
    )
    request.on('error', reject)
  })
  const totalMs = performance.now() - startedAt
  const { data } = JSON.parse(body) as { data?: unknown[] }
  if (data?.length !== PAGE_SIZE) throw new Error(`Expected ${PAGE_SIZE} agents, got ${body.slice(0, 200)}`)
  return totalMs
}

/** Writes agents directly to the store, because the API would take minutes. */
async function insertAgents(home: string, total: number): Promise<void> {
  mkdirSync(home, { mode: 0o700 })
  const database = openDatabase(homePaths({ CADRE_HOME: home }).database)
  await migrate(database)
  const firstTime = Date.now() - total
  await database.write(async (transaction) => {
    for (let number = 0; number < total; number++)
      await agentRecords.insert(transaction, createAgent(number, new Date(firstTime + number).toISOString()))
  })
  await database.close()
}

function createAgent(number: number, at: string): StoredAgent {
  return {
    id: generateId('agent'),
    // Names are not in the order of creation.
    name: `Agent ${((number * 7_919) % 1_000_003).toString(36)}`,
    description: 'Answers questions about the staff handbook',
    system_prompt: 'Answer from the handbook and cite it.',
    model_id: null,
    temperature: number % 2 === 0 ? 0.5 : 1,
    max_tokens: 800,
    tools: [],
    allowed_tools: [],
    memory: false,
    topics: [],
    prompt_template_id: null,
    variables: {},
    version: 1,
    created_at: at,
    updated_at: at,
  }
}
