/** Statistics over a million model calls and analytics over 300,000 messages, relative to reading every row. */
import { mkdirSync } from 'node:fs'
import { EventBus } from '../daemon/core/event-bus.ts'
import { type Database, openDatabase, type Transaction } from '../daemon/store/database.ts'
import { migrate } from '../daemon/store/migrate.ts'
import { UsageMeter } from '../daemon/usage/usage-meter.ts'
import { homePaths } from '../src/config.ts'
import type { DaemonProcess } from '../test/harness/daemon.ts'
import { request, withDaemon, withHome } from './support/daemon.ts'
import { type Benchmark, type Figure, formatMilliseconds, median } from './support/figures.ts'

const CALLS = 1_000_000
const MESSAGES = 300_000
const ROUNDS = 21
const SCAN_ROUNDS = 5
const THRESHOLDS = 1000

/** A year of calls by 20 agents and 500 users with 5 models. */
const INSERT_CALLS = `WITH RECURSIVE numbers (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${CALLS - 1})
INSERT INTO usage_calls (
  began_at, id, status, kind, model_id, agent_id, user_id, price_input, price_output,
  input_tokens, output_tokens, cached_tokens, estimated, cost, settled_at)
SELECT strftime('%Y-%m-%dT%H:%M:%fZ', 1735689600 + n * 31.5, 'unixepoch'), printf('call_%036d', n), 'done', 'chat',
  'model_' || (n % 5), 'agent_' || (n * 7919 % 20), 'user_' || (n * 104729 % 500), 0.5, 1.5,
  100 + n % 900, 20 + n % 300, 0, 0, (100 + n % 900) * 0.0005 + (20 + n % 300) * 0.0015, '' FROM numbers`
const INSERT_CONVERSATIONS = `WITH RECURSIVE numbers (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${MESSAGES / 10 - 1})
INSERT INTO conversations (id, agent_id, user_id, status, created_at, updated_at)
SELECT 'conv_' || n, 'agent_' || (n % 20), 'user_' || (n * 7919 % 500), iif(n % 3, 'completed', 'active'),
  strftime('%Y-%m-%dT%H:%M:%fZ', 1735689600 + n * 1050, 'unixepoch'), '' FROM numbers`
const INSERT_MESSAGES = `WITH RECURSIVE numbers (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${MESSAGES - 1})
INSERT INTO messages (id, conversation_id, role, content, details, created_at)
SELECT 'msg_' || n, 'conv_' || (n / 10), iif(n % 2, 'assistant', 'user'), 'something',
  iif(n % 2, json_object(
    'usage', json_object('total_tokens', 110 + n % 50), 'cost', 0.01, 'latency_ms', 500 + n * 7919 % 5000,
    'finish_reason', 'stop', 'citations', json_array(hex(zeroblob(500)))), '{}'),
  strftime('%Y-%m-%dT%H:%M:%fZ', 1735689600 + n * 105, 'unixepoch') FROM numbers`

const STATISTICS_QUERIES: { name: string; path: string; scan: string; most: number }[] = [
  { name: 'stats, all calls', path: '/usage/stats', scan: 'true', most: 0.1 },
  { name: 'stats, one agent', path: '/usage/stats?entity_type=agent&entity_id=agent_7', scan: "agent_id = 'agent_7'", most: 0.05 },
  { name: 'stats, one user', path: '/usage/stats?entity_type=user&entity_id=user_7', scan: "user_id = 'user_7'", most: 0.05 },
  { name: 'costs, all users', path: '/usage/costs?entity_type=user', scan: 'user_id IS NOT NULL', most: 0.1 },
  {
    name: 'stats, partial days',
    path: '/usage/stats?start_date=2025-03-05T10:00:00Z&end_date=2025-09-20T18:00:00Z',
    scan: "began_at >= '2025-03-05T10:00:00.000Z' AND began_at <= '2025-09-20T18:00:00.000Z'",
    most: 0.25,
  },
]

export const usage: Benchmark = {
  name: 'usage',
  run: () =>
    withHome(async (home) => {
      const { database: path } = homePaths({ CADRE_HOME: home })
      mkdirSync(home, { mode: 0o700 })
      const database = openDatabase(path)
      await migrate(database)
      await database.write(fillDatabase)
      const figures = await withDaemon(home, async (daemon) => [
        ...(await measureStatistics(daemon, database)),
        await measureAnalytics(daemon, database),
      ])
      figures.push(await measureMetering(database))
      await database.close()
      return figures
    }),
}

async function fillDatabase(transaction: Transaction): Promise<void> {
  await transaction.run(INSERT_CALLS)
  for (const [type, id] of [
    ['', "''"],
    ['agent', "''"],
    ['agent', 'agent_id'],
    ['user', "''"],
    ['user', 'user_id'],
  ])
    await transaction.run(
      `INSERT INTO usage_days
      SELECT '${type}', ${id}, substr(began_at, 1, 10), model_id, count(*), sum(input_tokens), sum(output_tokens), 0, 0, sum(cost), 0
      FROM usage_calls GROUP BY 1, 2, 3, 4`,
    )
  await transaction.run(
    `INSERT INTO usage_months
    SELECT entity_type, entity_id, substr(day, 1, 7), model_id, sum(calls), sum(input_tokens), sum(output_tokens), 0, 0, sum(cost), 0
    FROM usage_days GROUP BY 1, 2, 3, 4`,
  )
  await transaction.run(INSERT_CONVERSATIONS)
  await transaction.run(INSERT_MESSAGES)
}

async function measureStatistics(daemon: DaemonProcess, database: Database): Promise<Figure[]> {
  const figures: Figure[] = []
  for (const { name, path, scan, most } of STATISTICS_QUERIES) {
    const expected = await database.all<{ tokens: number }>(
      `SELECT sum(input_tokens + output_tokens) AS tokens FROM usage_calls WHERE ${scan}`,
    )
    const { data } = await request<{ data: { by_model: Record<string, { tokens: number }> } }>(daemon, 'GET', `/api${path}`)
    const total = Object.values(data.by_model).reduce((sum, { tokens }) => sum + tokens, 0)
    if (total !== expected[0]?.tokens) throw new Error(`${name}: ${total} tokens, but the calls have ${expected[0]?.tokens}`)
    const scanSql = `SELECT model_id, sum(input_tokens), sum(output_tokens), sum(cost) FROM usage_calls WHERE ${scan} GROUP BY model_id`
    const ours = await measureMedian(ROUNDS, () => request(daemon, 'GET', `/api${path}`))
    const theirs = await measureMedian(SCAN_ROUNDS, () => database.all(scanSql))
    figures.push({
      name: `${CALLS.toLocaleString('en')} calls: ${name}`,
      figure: `${formatMilliseconds(ours)} to ${formatMilliseconds(theirs)} for reading every call`,
      ratio: ours / theirs,
      bar: { most },
    })
  }
  return figures
}

async function measureAnalytics(daemon: DaemonProcess, database: Database): Promise<Figure> {
  const json = (path: string) => `json_extract(m.details, '$.${path}')`
  const scanSql = `SELECT substr(m.created_at, 1, 10) AS day, c.agent_id, c.user_id, count(*),
    sum(${json('usage.total_tokens')}), sum(${json('cost')}), sum(${json('latency_ms')})
    FROM messages m JOIN conversations c ON c.id = m.conversation_id GROUP BY 1, 2, 3`
  const ours = await measureMedian(ROUNDS, () => request(daemon, 'GET', '/api/analytics/conversations'))
  const theirs = await measureMedian(SCAN_ROUNDS, () => database.all(scanSql))
  return {
    name: `${MESSAGES.toLocaleString('en')} messages: analytics`,
    figure: `${formatMilliseconds(ours)} to ${formatMilliseconds(theirs)} for reading every message`,
    ratio: ours / theirs,
    bar: { most: 0.15 },
  }
}

/** Cost of metering a call with many thresholds, relative to writing two rows in two transactions. */
async function measureMetering(database: Database): Promise<Figure> {
  const meter = new UsageMeter({ database, events: new EventBus(), now: () => new Date() })
  const model = { id: 'model_1', price: { input: 0.5, output: 1.5 } }
  const origin = { agent_id: 'agent_7', user_id: 'user_7' }
  await database.write(async (transaction) => {
    for (let number = 0; number < THRESHOLDS; number++)
      await transaction.run(
        `INSERT INTO usage_thresholds (id, entity_type, entity_id, metric, "limit", period, action, created_at, updated_at)
        VALUES (?, 'user', ?, 'tokens', 1e12, 'month', 'block', '', '')`,
        [`thr_${number}`, `user_${number}`],
      )
    await transaction.run('CREATE TABLE bare (id INTEGER PRIMARY KEY, text TEXT)')
  })
  const insertRow = () => database.write((transaction) => transaction.run("INSERT INTO bare (text) VALUES ('something')"))
  const [ours, theirs]: [number[], number[]] = [[], []]
  for (let round = -20; round < 200; round++) {
    const meteredMs = await measureTime(async () => {
      await meter.checkBudget(model, origin)
      const entry = await database.write((transaction) => meter.begin(transaction, { model, kind: 'chat', origin, estimatedInput: 10 }))
      await database.write((transaction) =>
        meter.settle(transaction, entry, { input_tokens: 11, output_tokens: 7, status: 'done', estimated: false }),
      )
    })
    const writtenMs = await measureTime(async () => {
      await insertRow()
      await insertRow()
    })
    if (round < 0) continue
    ours.push(meteredMs)
    theirs.push(writtenMs)
  }
  const [call, rows] = [median(ours), median(theirs)]
  return {
    name: `metering of a call, ${THRESHOLDS.toLocaleString('en')} thresholds`,
    figure: `${formatMilliseconds(call)} to ${formatMilliseconds(rows)} for two rows`,
    ratio: call / rows,
    bar: { most: 4 },
  }
}

async function measureTime(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now()
  await work()
  return performance.now() - startedAt
}

/** Returns the median duration. The first round is a warm-up. */
async function measureMedian(rounds: number, work: () => Promise<unknown>): Promise<number> {
  const times: number[] = []
  for (let round = -1; round < rounds; round++) {
    const duration = await measureTime(work)
    if (round >= 0) times.push(duration)
  }
  return median(times)
}
