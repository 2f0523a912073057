/** Tests of the `usage` and `analytics` commands against a daemon with recorded usage. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { EventBus } from '../../../daemon/core/event-bus.ts'
import { openDatabase } from '../../../daemon/store/database.ts'
import { UsageMeter } from '../../../daemon/usage/usage-meter.ts'
import { stringWidth } from '../../../src/cli/terminal/text.ts'
import { formatEntity } from '../../../src/cli/usage/format-usage.ts'
import { EMBEDDED_MODEL_ID } from '../../../src/contract/families/models.ts'
import { openTerminal, type Terminal } from '../../harness/cli.ts'
import { reportFailure } from '../../harness/hooks.ts'
import { hasTmux, openShell } from '../../harness/tmux-terminal.ts'

const test = suite('usage at the terminal')
/** Skipped on machines without tmux. */
const atTerminal = hasTmux ? test : test.skip
const today = new Date().toISOString().slice(0, 10)
let terminal: Terminal
let agent: string
let model: string

const ok = async (...words: string[]) => {
  const ran = await terminal.run(words)
  assert.is(ran.code, 0, `${words.join(' ')}: ${ran.stderr}`)
  return ran
}

/** Records calls of three models for the agent and user ada, and a conversation. */
async function seed(): Promise<void> {
  const database = openDatabase(join(terminal.home, 'cadre.db'))
  const meter = new UsageMeter({ database, events: new EventBus(), now: () => new Date() })
  const at = new Date().toISOString()
  await database.write(async (transaction) => {
    for (const [id, price] of [
      [EMBEDDED_MODEL_ID, { input: 0, output: 0 }],
      [model, { input: 0.5, output: 1.5 }],
      ['model_gone', null],
    ] as const) {
      const origin = { agent_id: agent, user_id: 'ada' }
      const entry = await meter.begin(transaction, { model: { id, price }, kind: 'chat', origin, estimatedInput: 1 })
      await meter.settle(transaction, entry, {
        input_tokens: 11_000,
        output_tokens: 7000,
        cached_tokens: 0,
        status: 'done',
        estimated: false,
      })
    }
    await transaction.run(
      "INSERT INTO conversations (id, agent_id, user_id, status, created_at, updated_at) VALUES ('c', ?, 'ada', 'completed', ?, ?)",
      [agent, at, at],
    )
    const details = JSON.stringify({ usage: { total_tokens: 54_000 }, cost: 16, latency_ms: 1500, finish_reason: 'stop' })
    await transaction.run(
      "INSERT INTO messages (id, conversation_id, role, content, details, created_at) VALUES ('q', 'c', 'user', '', '{}', ?)",
      [at],
    )
    await transaction.run(
      "INSERT INTO messages (id, conversation_id, role, content, details, created_at) VALUES ('a', 'c', 'assistant', '', ?, ?)",
      [details, at],
    )
  })
  await database.close()
}

test.before(
  reportFailure(async () => {
    terminal = openTerminal()
    agent = (await terminal.json<{ id: string }>(['agents', 'create', '--name', 'Handbook helper'])).id
    model = (
      await terminal.json<{ id: string }>(['models', 'create', '--name', 'Fast one', '--provider', 'openai', '--model-id', 'gpt-fast'])
    ).id
  }),
)
test.after(reportFailure(() => terminal.close()))

test('a deleted resource is named so, and a user by its ID', () => {
  const id = 'rag_019a3c5e-7d2b-7c31-9a44-0c9f5d1e2b3a'
  assert.equal(
    [formatEntity(new Map([[id, 'handbook']]), id), formatEntity(new Map(), id), formatEntity(new Map(), 'ada')],
    ['handbook', '(deleted)', 'ada'],
  )
})

test('reports without usage say so', async () => {
  for (const words of [['usage'], ['usage', 'costs'], ['analytics']]) {
    const { stdout, stderr } = await ok(...words)
    assert.is(stdout, '')
    assert.match(stderr, /^Last 30 days, .*: no (model was called|conversations)\.\n$/)
  }
  await ok('daemon', 'stop')
  await seed()
})

test('usage shows totals and charts by model, agent and user', async () => {
  const { stdout } = await ok('usage')
  assert.match(stdout, '3 calls, 54,000 tokens: 33,000 in, 21,000 out.')
  assert.match(stdout, 'Cost 16.00 USD, excluding 18,000 of 54,000 tokens without a price.')
  assert.match(stdout, new RegExp(`Fast one +18,000 +16\\.00 USD +█+ +${model}`))
  assert.match(stdout, /model_gone +18,000 +– +█/)
  assert.match(stdout, new RegExp(`Handbook helper +54,000 +≥ 16\\.00 USD +█+ +${agent}`))
  assert.match(stdout, /ada +54,000/)
})

test('usage is filtered by agent, model or user, by name or identifier', async () => {
  const tokens = async (...flags: string[]) => (await terminal.json<{ total_tokens: number }>(['usage', ...flags])).total_tokens
  assert.is(await tokens('--agent', 'Handbook helper'), 54_000)
  assert.is(await tokens('--agent', agent), 54_000)
  for (const named of ['Fast one', 'gpt-fast', model]) assert.is(await tokens('--model', named), 18_000)
  assert.is(await tokens('--model', 'model_gone'), 18_000)
  assert.is(await tokens('--user', 'bob'), 0)
  assert.is(await tokens('--to', '2020-01-01'), 0)
  assert.is((await terminal.run(['usage', '--model', 'gpt-slow'])).code, 3)
  assert.is((await terminal.run(['usage', '--agent', 'Handbook helper', '--user', 'ada'])).code, 2)
  assert.is((await terminal.run(['usage', '--from', 'yesterday'])).code, 2)
  assert.is((await terminal.run(['usage', '--from', '2026-02-02', '--to', '2026-02-01'])).code, 2)
})

test('usage costs shows tokens and costs by day', async () => {
  const { stdout } = await ok('usage', 'costs', '--days', '2')
  assert.match(stdout, new RegExp(`${today} +54,000 +≥ 16\\.00 USD  █+`))
  assert.match(stdout, / +0 +0 USD\n/)
  const { stdout: rows } = await ok('usage', 'costs', '--days', '2', '--output', 'csv')
  assert.match(rows, `date,tokens,cost,unpriced_tokens,estimated_tokens,currency\r\n`)
  assert.match(rows, `${today},54000,16,18000`)
})

test('costs are in the currency of the settings', async () => {
  await ok('config', 'set', 'currency', 'eur')
  assert.is((await ok('config', 'get', 'currency')).stdout, 'EUR\n')
  assert.match((await ok('config', 'list')).stdout, /currency +EUR/)
  assert.match((await ok('usage')).stdout, 'Cost 16.00 EUR, ')
  assert.match((await ok('usage', 'costs', '--output', 'csv')).stdout, `${today},54000,16,18000,0,EUR`)
  assert.match((await ok('usage', '--output', 'csv')).stdout, 'user,ada,,54000,16,18000,0,EUR')
  assert.match((await ok('analytics')).stdout, /16\.00 EUR/)
  const { code, stderr } = await terminal.run(['config', 'set', 'currency', 'euro'])
  assert.is(code, 2)
  assert.match(stderr, 'currency such as EUR or USD')
  await ok('config', 'unset', 'currency')
  assert.is((await ok('config', 'get', 'currency')).stdout, 'USD\n')
})

test('usage --output csv prints one row per entity', async () => {
  const { stdout } = await ok('usage', '--output', 'csv')
  assert.match(stdout, `model,${model},Fast one,18000,16,0`)
  assert.match(stdout, 'user,ada,,54000,16,18000')
})

test('analytics shows figures and charts by day and agent', async () => {
  const { stdout } = await ok('analytics', '--days', '1')
  for (const line of [
    /conversations +1, 100 % completed/,
    /messages +2, 2 per conversation/,
    /response time +1\.5 s on average, 95th percentile 1\.5 s/,
  ])
    assert.match(stdout, line)
  assert.match(stdout, new RegExp(`${today} +2 +1  █`))
  assert.match(stdout, /Handbook helper +2 +1 +54K +█/)
  assert.is((await terminal.json<{ total_messages: number }>(['analytics', '--agent', 'Handbook helper'])).total_messages, 2)
})

test('usage and analytics draw a line of days, or describe it on a dumb terminal', async () => {
  assert.match((await ok('usage')).stdout, /Tokens per day {2}▁{29}█ {2}at most 54K/)
  assert.match((await ok('analytics')).stdout, /Messages per day {2}▁{29}█ {2}at most 2\nTokens per day {4}▁{29}█ {2}at most 54K/)
  const { stdout } = await terminal.run(['usage'], { environment: { TERM: 'dumb' } })
  assert.match(stdout, 'Tokens per day: 0 to 54K, last 54K')
  assert.not.match(stdout, /[▁-█]/)
})

atTerminal('tables, help and reports fit 40, 80 and 200 columns, without colors and on a dumb terminal', async () => {
  const shell = openShell(terminal)
  try {
    for (const [columns, setting] of [
      [40, 'NO_COLOR=1'],
      [80, 'FORCE_COLOR=1'],
      [200, 'TERM=dumb'],
    ] as const) {
      shell.resize(columns, 50)
      shell.start(`export ${setting}; echo "= $((${columns})) ="; for what in 'agents list' --help usage analytics; do cadre $what; done`)
      await shell.waitForExit()
      const printed = shell.readUnwrapped().split(`= ${columns} =\n`).at(-1) ?? ''
      for (const text of ['Handbook helper', 'ENVIRONMENT', 'Tokens per day', 'Messages per day']) assert.match(printed, text)
      // A shell must receive the quoted text of an example as it is.
      for (const line of printed.split('\n').filter((line) => !/^ +".*"$/.test(line)))
        assert.ok(stringWidth(line.trimEnd()) <= columns, `${columns}: ${line}`)
      assert.is(shell.readWithColors().includes('\u001b['), setting === 'FORCE_COLOR=1', setting)
      assert.is(/[▁-█]/.test(printed), setting !== 'TERM=dumb', setting)
      shell.type('unset NO_COLOR FORCE_COLOR')
    }
  } finally {
    shell.close()
  }
})

test('usage and analytics write HTML reports', async () => {
  const usage = (await ok('usage', '--html', '-')).stdout
  for (const text of ['Last 30 days', 'Handbook helper', '54,000', '≥ 16.00', 'Tokens per day']) assert.match(usage, text)
  const file = join(terminal.home, '..', 'analytics.html')
  assert.match((await ok('analytics', '--html', file)).stderr, `Wrote ${file}.`)
  for (const text of ['Messages per day', 'Handbook helper', '100 % completed']) assert.match(readFileSync(file, 'utf8'), text)
  const existing = await terminal.run(['usage', '--html', file])
  assert.is(existing.code, 2)
  assert.match(existing.stderr, /analytics\.html already exists\.\n.*--force/)
  assert.match(readFileSync(file, 'utf8'), 'Messages per day')
  await ok('usage', '--html', file, '--force')
  assert.match(readFileSync(file, 'utf8'), 'Model usage')
  assert.is((await terminal.run(['usage', '--html', file, '--json'])).code, 2)
  assert.match((await ok('usage', '--to', '2020-01-01', '--html', '-')).stdout, 'Model usage')
})

test('thresholds list shows how much of each threshold is used', async () => {
  const make = (...words: string[]) => terminal.json<{ id: string }>(['usage', 'thresholds', 'create', ...words])
  const all = await make('--metric', 'tokens', '--limit', '108000', '--period', 'month')
  const own = await make(
    '--metric',
    'cost',
    '--limit',
    '10',
    '--period',
    'day',
    '--entity-type',
    'agent',
    '--entity',
    'Handbook helper',
    '--action',
    'block',
  )
  const other = await make('--metric', 'tokens', '--limit', '500', '--period', 'day', '--entity-type', 'user', '--entity', 'bob')
  const tiny = await make('--metric', 'tokens', '--limit', '10', '--period', 'month')
  const { stdout } = await ok('usage', 'thresholds', 'list', '--order', 'asc')
  assert.is(
    stdout,
    `${all.id}  notifies only
  ████████           50 %  54,000 of 108,000 tokens this month  everything
${own.id}  blocks calls
  ████████████████  160 %  16.00 USD of 10.00 USD today  agent Handbook helper
${other.id}  notifies only
                      0 %  0 of 500 tokens today  user bob
${tiny.id}  notifies only
  ████████████████  540,000 %  54,000 of 10 tokens this month  everything
`,
  )
})

test.run()
