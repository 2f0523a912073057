/** Searching conversations by the text of 100,000 messages: CPU time, relative to the obvious SQL statement and a page of the list. */
import { mkdirSync } from 'node:fs'
import { type Database, openDatabase, type Transaction } from '../../daemon/store/database.ts'
import { migrate } from '../../daemon/store/migrate.ts'
import { homePaths } from '../../src/config.ts'
import type { DaemonProcess } from '../../test/harness/daemon.ts'
import { readCpuSeconds } from '../support/cpu-time.ts'
import { request, withDaemon, withHome } from '../support/daemon.ts'
import { type Benchmark, type Figure, formatMilliseconds } from '../support/figures.ts'
import { measureCpu } from '../support/measure-cpu.ts'

const MESSAGES = 100_000
/** As short as conversations get: every one of them is found, counted and sorted. */
const MESSAGES_PER_CONVERSATION = 2
const MESSAGES_PER_COMMIT = 500
const BLOCKS = 5
const SEARCHES_PER_BLOCK = 5
const LISTS_PER_BLOCK = 50
/** The low bits of a number count the messages of a conversation. */
const MESSAGE_BITS = 20

interface Query {
  name: string
  path: string
  matches: (message: number) => boolean
  /** The same in SQL. */
  match: string
  where?: string
  most: number
}

const QUERIES: Query[] = [
  { name: 'a rare word', path: 'q=rare', matches: (message) => message % 1000 === 0, match: 'rare*', most: 2.6 },
  { name: 'a word in every message', path: 'q=regarding', matches: () => true, match: 'regarding*', most: 0.6 },
  { name: 'a prefix in every message', path: 'q=reg', matches: () => true, match: 'reg*', most: 0.6 },
  {
    name: 'a phrase in every message',
    path: 'q=%22regarding+the+leave%22',
    matches: () => true,
    match: '"regarding the leave"',
    most: 0.6,
  },
  {
    name: 'three words in every message',
    path: 'q=regarding+leave+the',
    matches: () => true,
    match: 'regarding* AND leave* AND the*',
    most: 0.6,
  },
  {
    name: 'a word in every message, of one user',
    path: 'q=regarding&user_id=user_7',
    matches: (message) => getConversation(message) % 20 === 7,
    match: 'regarding*',
    where: "AND c.user_id = 'user_7'",
    most: 1.4,
  },
  {
    name: 'a word in every message of this year',
    path: 'q=regarding&start_date=2025-01-01&end_date=2025-12-31',
    matches: () => true,
    match: 'regarding*',
    where: "AND m.created_at BETWEEN '2025-01-01' AND '2026-01-01'",
    most: 0.5,
  },
]

const getConversation = (message: number) => Math.floor(message / MESSAGES_PER_CONVERSATION)

export const messageSearch: Benchmark = {
  name: 'message-search',
  run: () =>
    withHome(async (home) => {
      mkdirSync(home, { mode: 0o700 })
      const database = openDatabase(homePaths({ CADRE_HOME: home }).database)
      await migrate(database)
      // Small commits, as the daemon makes them: the index then has as many parts as in use.
      for (let first = 0; first < MESSAGES; first += MESSAGES_PER_COMMIT)
        await database.writeWithoutFlush((transaction) => insertMessages(transaction, first))
      try {
        return await withDaemon(home, async (daemon) => {
          const figures: Figure[] = []
          for (const query of QUERIES) figures.push(await measureSearch(daemon, database, query))
          return figures
        })
      } finally {
        await database.close()
      }
    }),
}

async function insertMessages(transaction: Transaction, first: number): Promise<void> {
  const generate = (count: number) => `WITH RECURSIVE generated (n) AS (SELECT ${Math.floor((first * count) / MESSAGES)}
    UNION ALL SELECT n + 1 FROM generated WHERE n < ${Math.floor(((first + MESSAGES_PER_COMMIT) * count) / MESSAGES) - 1})`
  const conversations = MESSAGES / MESSAGES_PER_CONVERSATION
  const at = (seconds: number) => `strftime('%Y-%m-%dT%H:%M:%fZ', 1735689600 + n * ${seconds}, 'unixepoch')`
  const number = `(((n / ${MESSAGES_PER_CONVERSATION} + 1) << ${MESSAGE_BITS}) + n % ${MESSAGES_PER_CONVERSATION})`
  const words = [7919, 104729, 1299709, 15485863].map((factor) => `(n * ${factor} % 9973)`).join(" || ' w' || ")
  await transaction.run(`${generate(conversations)} INSERT INTO conversations (id, agent_id, user_id, status, created_at, updated_at)
    SELECT printf('conv_%036d', n), 'agent_1', 'user_' || (n % 20), 'completed', ${at(300 * MESSAGES_PER_CONVERSATION)}, ''
    FROM generated`)
  await transaction.run(`${generate(conversations)} INSERT INTO searchable_conversations (number, id)
    SELECT n + 1, printf('conv_%036d', n) FROM generated`)
  await transaction.run(`${generate(MESSAGES)} INSERT INTO messages (id, conversation_id, role, content, details, created_at)
    SELECT printf('msg_%036d', n), printf('conv_%036d', n / ${MESSAGES_PER_CONVERSATION}), iif(n % 2, 'assistant', 'user'),
      'Regarding the leave policy: w' || ${words} || iif(n % 1000, '', ' rare'), '{}', ${at(300)} FROM generated`)
  await transaction.run(`${generate(MESSAGES)} INSERT INTO searchable_messages (number, id, created_at)
    SELECT ${number}, printf('msg_%036d', n), ${at(300)} FROM generated`)
  await transaction.run(`${generate(MESSAGES)} INSERT INTO message_words (rowid, content)
    SELECT ${number}, content FROM generated CROSS JOIN messages m ON m.id = printf('msg_%036d', n)`)
}

interface Found {
  data: { match_count: number; match: { snippet: string; highlights: object[] } }[]
  pagination: { total: number }
}

async function measureSearch(daemon: DaemonProcess, database: Database, query: Query): Promise<Figure> {
  const search = () => request<Found>(daemon, 'GET', `/api/conversations?${query.path}`)
  const total = checkFound(await search(), query)
  const spent = { search: [] as number[], list: [] as number[], sql: [] as number[] }
  for (let block = 0; block < BLOCKS; block++) {
    spent.search.push(await measureDaemonCpu(daemon, SEARCHES_PER_BLOCK, search))
    spent.list.push(await measureDaemonCpu(daemon, LISTS_PER_BLOCK, () => request(daemon, 'GET', '/api/conversations')))
    spent.sql.push(
      await measureCpu(async () => {
        const [first] = await findWithOneStatement(database, query)
        if (first?.total !== total) throw new Error(`${query.name}: the statement finds ${first?.total} conversations.`)
      }),
    )
  }
  const [ours, list, sql] = [Math.min(...spent.search), Math.min(...spent.list), Math.min(...spent.sql)]
  return {
    name: `search of ${MESSAGES.toLocaleString('en')} messages for ${query.name}, CPU relative to one SQL statement and a page`,
    figure: `${formatMilliseconds(ours)} to ${formatMilliseconds(sql)} and ${formatMilliseconds(list)}`,
    ratio: ours / (sql + list),
    bar: { most: query.most },
  }
}

/** Returns the number of conversations. */
function checkFound({ data, pagination }: Found, { name, matches }: Query): number {
  const numbers = Array.from({ length: MESSAGES }, (_, message) => message).filter(matches)
  const expected = new Set(numbers.map(getConversation)).size
  if (pagination.total !== expected) throw new Error(`${name}: found ${pagination.total} conversations, but ${expected} match.`)
  const perConversation = numbers.length / expected
  if (data.length !== 20 || data.some(({ match_count, match }) => match_count !== perConversation || match.highlights.length === 0))
    throw new Error(`${name}: the results are wrong: ${JSON.stringify(data[0])}`)
  return expected
}

/** Returns the milliseconds of a request. */
async function measureDaemonCpu({ child }: DaemonProcess, requests: number, send: () => Promise<unknown>): Promise<number> {
  const before = readCpuSeconds(child.pid as number)
  for (let count = 0; count < requests; count++) await send()
  return ((readCpuSeconds(child.pid as number) - before) / requests) * 1000
}

/** Finds, counts, groups and sorts as one would without the daemon, with the same library in the same file. */
const findWithOneStatement = (database: Database, { match, where = '' }: Query): Promise<{ total: number }[]> =>
  database.all(
    `SELECT c.id, count(*) AS matches, max(w.rowid) AS newest, count(*) OVER () AS total FROM message_words w
      ${where.includes('m.') ? 'CROSS JOIN searchable_messages m ON m.number = w.rowid' : ''}
      CROSS JOIN searchable_conversations s ON s.number = w.rowid >> ${MESSAGE_BITS} CROSS JOIN conversations c ON c.id = s.id
      WHERE message_words MATCH ? ${where} GROUP BY s.number ORDER BY c.created_at DESC LIMIT 20`,
    [match],
  )
