/** A page of 20 of 100,000 agents against a page of 20 of 100: what a list costs must not grow with what is stored. */
import { mkdirSync } from 'node:fs'
import { get, Agent as KeptConnection } from 'node:http'
import { agentRecords, type StoredAgent } from '../daemon/agents/store.ts'
import { generateId } from '../daemon/core/identifiers.ts'
import { openDatabase } from '../daemon/store/database.ts'
import { migrate } from '../daemon/store/migrations.ts'
import { homePaths } from '../src/config.ts'
import type { DaemonProcess } from '../test/harness/daemon.ts'
import { TOKEN, withDaemon, withHome } from './support/daemon.ts'
import { type Benchmark, type Figure, formatMilliseconds, median } from './support/figures.ts'

const SMALL_TOTAL = 100
const LARGE_TOTAL = 100_000
const PAGE_SIZE = 20
const ROUNDS = 150

type Query = (total: number) => string

const PAGES: { name: string; query: Query; barred: boolean }[] = [
  { name: 'first page', query: () => '', barred: true },
  { name: 'first page by name', query: () => 'sort=name&order=asc', barred: true },
  { name: 'last page', query: (total) => `page=${total / PAGE_SIZE}`, barred: true },
  { name: 'middle page', query: (total) => `page=${Math.ceil(total / PAGE_SIZE / 2)}`, barred: false },
  { name: 'filter, half match', query: () => 'temperature=0.5', barred: false },
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
  const connections = new KeptConnection({ keepAlive: true, maxSockets: 1 })
  const figures: Figure[] = []
  for (const { name, query, barred } of PAGES) {
    const [ofFew, ofMany]: [number[], number[]] = [[], []]
    // In turn; the first rounds warm both up.
    for (let round = -20; round < ROUNDS; round++) {
      const [one, other] = [
        await measureRequest(few, query(SMALL_TOTAL), connections),
        await measureRequest(many, query(LARGE_TOTAL), connections),
      ]
      if (round < 0) continue
      ofFew.push(one)
      ofMany.push(other)
    }
    const [small, large] = [median(ofFew), median(ofMany)]
    figures.push({
      name: `20 of ${LARGE_TOTAL.toLocaleString('en')}: ${name}`,
      figure: `${formatMilliseconds(large)} to ${formatMilliseconds(small)}`,
      ratio: large / small,
      ...(barred ? { bar: { most: 1.5 } } : {}),
    })
  }
  connections.destroy()
  return figures
}

/** Milliseconds from the request to the last byte of the answer. */
async function measureRequest({ url }: DaemonProcess, query: string, agent: KeptConnection): Promise<number> {
  const began = performance.now()
  const body = await new Promise<string>((resolve, reject) => {
    const sent = get(
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
    sent.on('error', reject)
  })
  const taken = performance.now() - began
  const { data } = JSON.parse(body) as { data?: unknown[] }
  if (data?.length !== PAGE_SIZE) throw new Error(`Expected ${PAGE_SIZE} agents, got ${body.slice(0, 200)}`)
  return taken
}

/** Writes the agents straight into the store: through the daemon it would take minutes. */
async function insertAgents(home: string, total: number): Promise<void> {
  mkdirSync(home, { mode: 0o700 })
  const database = openDatabase(homePaths({ CADRE_HOME: home }).database)
  await migrate(database)
  const began = Date.now() - total
  await database.write(async (transaction) => {
    for (let number = 0; number < total; number++)
      await agentRecords.insert(transaction, createAgent(number, new Date(began + number).toISOString()))
  })
  await database.close()
}

function createAgent(number: number, at: string): StoredAgent {
  return {
    id: generateId('agent'),
    // Names in another order than that of creation.
    name: `Agent ${((number * 7_919) % 1_000_003).toString(36)}`,
    description: 'Answers questions about the staff handbook',
    system_prompt: 'Answer from the handbook and cite it.',
    model_id: null,
    temperature: number % 2 === 0 ? 0.5 : 1,
    max_tokens: 800,
    tools: [],
    topics: [],
    prompt_template_id: null,
    variables: {},
    version: 1,
    created_at: at,
    updated_at: at,
  }
}
