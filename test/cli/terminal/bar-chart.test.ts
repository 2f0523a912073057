import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { formatBar, formatChart, formatSparkline, formatTrend } from '../../../src/cli/terminal/bar-chart.ts'
import { formatCompact, formatMilliseconds } from '../../../src/cli/terminal/format-quantity.ts'
import { stringWidth } from '../../../src/cli/terminal/text.ts'
import { formatAnalytics } from '../../../src/cli/usage/format-analytics.ts'
import { formatCosts, formatUsage } from '../../../src/cli/usage/format-usage.ts'
import { groupDays } from '../../../src/cli/usage/group-days.ts'
import { parsePeriod } from '../../../src/cli/usage/period-flags.ts'
import { formatMoney } from '../../../src/contract/schemas/currency.ts'

const test = suite('bar charts')
const output = (columns: number) => ({ columns, stream: { isTTY: false } as NodeJS.WriteStream })
const spent = (tokens: number, cost: number | null, unpriced_tokens = cost === null ? tokens : 0) => ({
  tokens,
  cost,
  estimated_tokens: 0,
  unpriced_tokens,
})
const AGENT = 'agent_019a3c5e-7d2b-7c31-9a44-0c9f5d1e2b3a'
const report = (columns: number) => ({
  title: 'Last 30 days',
  names: new Map([['m1', 'Llama']]),
  currency: 'EUR',
  output: output(columns),
  top: 2,
})

const USED = {
  currency: 'EUR',
  total_tokens: 12_345_678,
  input_tokens: 12_000_000,
  output_tokens: 345_678,
  cached_tokens: 5000,
  calls: 1234,
  total_cost: 1234.5,
  unpriced_tokens: 45_678,
  estimated_tokens: 0,
  by_model: { m1: spent(12_300_000, 1234.5), m2: spent(45_678, null), m3: spent(0, 0) },
  by_entity: { agent: { [AGENT]: spent(12_345_678, 1234.5, 45_678) }, user: { なまえのながいひとのなまえ: spent(1, 0) } },
}

test('a bar is as long as its share, rounded to an eighth of a column', () => {
  assert.is(formatBar(1, 4), '████')
  assert.is(formatBar(0.5, 4), '██')
  assert.is(formatBar(0.53125, 4), '██▏')
  assert.is(formatBar(0, 4), '')
})

test('a bar of a tiny share is visible', () => {
  assert.is(formatBar(1e-9, 4), '▏')
})

test('figures are right-aligned, and the longest bar fills its column', () => {
  const rows = [
    { label: 'Llama', cells: ['1,200'], value: 1200 },
    { label: 'GPT', cells: ['600'], value: 600 },
  ]
  assert.equal(formatChart(['MODEL', 'TOKENS'], rows, output(30)), [
    'MODEL  TOKENS',
    `Llama   1,200  ${'█'.repeat(15)}`,
    `GPT       600  ${'█'.repeat(7)}▌`,
  ])
})

test('a note is shown after the bar only if it fits', () => {
  const rows = [{ label: 'Helper', cells: ['1'], value: 1, note: AGENT }]
  assert.match(formatChart(['AGENT', 'N'], rows, output(100))[1] ?? '', AGENT)
  assert.not.match(formatChart(['AGENT', 'N'], rows, output(70))[1] ?? '', 'agent_')
})

test('no line of a report is wider than the terminal, down to 40 columns', () => {
  const analytics = {
    total_conversations: 12_345,
    total_messages: 123_456,
    average_messages_per_conversation: 10.01,
    active_users: 77,
    completion_rate: 0.5,
    average_response_time_ms: 1234,
    p95_response_time_ms: 61_000,
    total_tokens: 12_345_678,
    total_cost: 12.5,
    currency: 'EUR',
    unpriced_tokens: 1_345_678,
    tool_calls: 3,
    by_day: [30, 31].map((day) => ({ date: `2026-01-${day}`, conversations: 12_345, messages: 123_456, tokens: 12_345_678 })),
    by_agent: { [AGENT]: { conversations: 12_345, messages: 123_456, tokens: 12_345_678 } },
  }
  const costs = { ...USED, by_day: [30, 31].map((day) => ({ date: `2026-01-${day}`, ...spent(12_345_678, 1234.5, 45_678) })) }
  for (let columns = 40; columns <= 130; columns++)
    for (const text of [
      formatUsage(USED, costs.by_day, report(columns)),
      formatCosts(costs, report(columns)),
      formatAnalytics(analytics, report(columns)),
    ])
      for (const line of text.split('\n')) assert.ok(stringWidth(line) <= columns, `${columns}: ${line}`)
})

test('usage shows unknown prices as a dash, marks incomplete sums and counts the other rows', () => {
  const text = formatUsage(USED, [], report(80))
  assert.match(text, 'Cost 1,234.50 EUR, excluding 45,678 of 12,345,678 tokens without a price.')
  assert.match(text, /Llama +12,300,000 +1,234\.50 EUR/)
  assert.match(text, /m2 +45,678 +–/)
  assert.match(text, /12,345,678 +≥ 1,234\.50 EUR/)
  assert.match(text, 'and 1 more')
})

test('leading empty days are omitted with a note', () => {
  const day = (date: number, messages: number) => ({ date: `2026-01-0${date}`, messages })
  const fold = (...messages: number[]) => {
    const { rows, omitted: empty } = groupDays(
      messages.map((each, at) => day(at + 1, each)),
      (one) => one,
      (one) => one.messages === 0,
    )
    return [rows.length, empty]
  }
  assert.equal(fold(0, 0, 0, 2, 0), [2, 'No data from 2026-01-01 to 2026-01-03.'])
  assert.equal(
    [fold(0, 1), fold(3, 0), fold(0, 0)],
    [
      [2, undefined],
      [2, undefined],
      [2, undefined],
    ],
  )
  const costs = { ...USED, by_day: [1, 2, 3].map((date) => ({ date: `2026-01-0${date}`, ...spent(date === 3 ? 5 : 0, 0) })) }
  assert.match(formatCosts(costs, report(40)), /DAY .*\n2026-01-03 .*\nNo data from 2026-01-01 to 2026-01-02\./)
})

test('more than 62 days are grouped by month', () => {
  const days = Array.from({ length: 70 }, (_, day) => ({
    date: new Date(Date.UTC(2026, 0, 1 + day)).toISOString().slice(0, 10),
    tokens: 1,
  }))
  const plus = (one: { date: string; tokens: number }, other: { tokens: number }) => ({ ...one, tokens: one.tokens + other.tokens })
  assert.equal(groupDays(days, plus, () => false).rows, [
    { date: '2026-01', tokens: 31 },
    { date: '2026-02', tokens: 28 },
    { date: '2026-03', tokens: 11 },
  ])
  assert.is(groupDays(days.slice(0, 62), plus, () => false).rows.length, 62)
})

test('a sparkline has a block per value, or per group of values if there is less room', () => {
  assert.is(formatSparkline([0, 1, 2, 7], 10), '▁▂▃█')
  assert.is(formatSparkline([0.5, 1], 10, 1), '▅█')
  assert.is(formatSparkline([0, 0], 10), '▁▁')
  assert.is(formatSparkline([0, 0, 0, 7, 7, 7, 7, 7], 4), '▁▅██')
})

test('a trend fits 40, 80 and 200 columns, and needs two values', () => {
  const trend = (count: number) => ({ label: 'Tokens per day', values: Array.from({ length: count }, (_, day) => day), format: String })
  for (const columns of [12, 20, 40, 80, 200])
    for (const line of formatTrend(trend(365), output(columns), true)) assert.ok(stringWidth(line) <= columns, `${columns}: ${line}`)
  assert.match(formatTrend(trend(30), output(80), true)[0] ?? '', /^Tokens per day {2}[▁-█]{30} {2}at most 29$/)
  assert.match(formatTrend(trend(30), output(40), true)[0] ?? '', /^Tokens per day {2}[▁-█]{12} {2}at most 29$/)
  assert.equal([formatTrend(trend(1), output(80), true), formatTrend({ ...trend(2), values: [0, 0] }, output(80), true)], [[], []])
})

test('a dumb terminal gets words and # instead of blocks', () => {
  const trend = { label: 'Tokens per day', values: [3, 9, 5], format: String }
  assert.equal(formatTrend(trend, output(80), false), ['Tokens per day: 3 to 9, last 5'])
  assert.equal([formatBar(0.5, 4, false), formatBar(1e-9, 4, false), formatBar(0, 4, false)], ['##', '#', ''])
})

test('--days ends today, and --from and --to are used as given', () => {
  const now = new Date('2026-01-31T23:30:00.000Z')
  assert.equal(parsePeriod({}, now).query, { start_date: '2026-01-02', end_date: '2026-01-31' })
  assert.equal(parsePeriod({ days: 1 }, now), { query: { start_date: '2026-01-31', end_date: '2026-01-31' }, title: 'Today, 2026-01-31' })
  assert.equal(parsePeriod({ from: '2025-01-01' }, now), {
    query: { start_date: '2025-01-01', end_date: undefined },
    title: 'Since 2025-01-01',
  })
  assert.throws(() => parsePeriod({ to: 'yesterday' }, now), /--to yesterday is not a date/)
})

test('numbers, money and durations are formatted compactly', () => {
  assert.equal([formatCompact(9999), formatCompact(12_345), formatCompact(1_234_567)], ['9,999', '12.3K', '1.23M'])
  assert.equal(
    [0, 1234.5, 0.012345, 0.0000012].map((amount) => formatMoney(amount, 'EUR')),
    ['0 EUR', '1,234.50 EUR', '0.012 EUR', '0.0000012 EUR'],
  )
  assert.equal([formatMilliseconds(90), formatMilliseconds(1234), formatMilliseconds(61_000)], ['90 ms', '1.2 s', '1 min 1 s'])
})

test.run()
