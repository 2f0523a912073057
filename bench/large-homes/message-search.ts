/** Searching conversations by the text of 100,000 messages: CPU time of the daemon per search, relative to 100 ms. */
import { mkdirSync } from 'node:fs'
import { openDatabase, type Transaction } from '../../daemon/store/database.ts'
import { migrate } from '../../daemon/store/migrate.ts'
import { homePaths } from '../../src/config.ts'
import type { DaemonProcess } from '../../test/harness/daemon.ts'
import { readCpuSeconds } from '../support/cpu-time.ts'
import { request, withDaemon, withHome } from '../support/daemon.ts'
import { type Benchmark, type Figure, formatMilliseconds, median } from '../support/figures.ts'

const MESSAGES = 100_000
/** As short as conversations get: every one of them is found, counted and sorted. */
const MESSAGES_PER_CONVERSATION = 2
const MESSAGES_PER_COMMIT = 500
const ROUNDS = 20
const MAX_SEARCH_MS = 100
/** The low bits of a number count the messages of a conversation. */
const MESSAGE_BITS = 20

const QUERIES: { name: string; path: string; matches: (message: number) => boolean }[] = [
  { name: 'a rare word', path: 'q=rare', matches: (message) => message % 1000 === 0 },
  { name: 'a word in every message', path: 'q=regarding', matches: () => true },
  { name: 'a prefix in every message', path: 'q=reg', matches: () => true },
  { name: 'a phrase in every message', path: 'q=%22regarding+the+leave%22', matches: () => true },
  { name: 'three words in every message', path: 'q=regarding+leave+the', matches: () => true },
  {
    name: 'a word in every message, of one user',
    path: 'q=regarding&user_id=user_7',
    matches: (message) => getConversation(message) % 20 === 7,
  },
  { name: 'a word in every message of this year', path: 'q=regarding&start_date=2025-01-01&end_date=2025-12-31', matches: () => true },
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
      await database.close()
      return withDaemon(home, async (daemon) => {
        const figures: Figure[] = []
        for (const query of QUERIES) figures.push(await measureSearch(daemon, query))
        return figures
      })
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

async function measureSearch(daemon: DaemonProcess, { name, path, matches }: (typeof QUERIES)[number]): Promise<Figure> {
  const search = () => request<Found>(daemon, 'GET', `/api/conversations?${path}`)
  const { data, pagination } = await search()
  const numbers = Array.from({ length: MESSAGES }, (_, message) => message).filter(matches)
  const expected = new Set(numbers.map(getConversation)).size
  if (pagination.total !== expected) throw new Error(`${name}: found ${pagination.total} conversations, but ${expected} match.`)
  const perConversation = numbers.length / expected
  if (data.length !== 20 || data.some(({ match_count, match }) => match_count !== perConversation || match.highlights.length === 0))
    throw new Error(`${name}: the results are wrong: ${JSON.stringify(data[0])}`)
  const times: number[] = []
  const before = readCpuSeconds(daemon.child.pid as number)
  for (let round = 0; round < ROUNDS; round++) {
    const startedAt = performance.now()
    await search()
    times.push(performance.now() - startedAt)
  }
  const cost = ((readCpuSeconds(daemon.child.pid as number) - before) / ROUNDS) * 1000
  return {
    name: `search of ${MESSAGES.toLocaleString('en')} messages for ${name}, CPU, relative to 100 ms`,
    figure: `${formatMilliseconds(cost)} (median duration ${formatMilliseconds(median(times))})`,
    ratio: cost / MAX_SEARCH_MS,
    bar: { most: 1 },
  }
}
