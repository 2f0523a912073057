/** Reports of every kind with texts that try to break out of the page. */
import { formatConversationHtml } from '../../../src/cli/conversations/format-html.ts'
import { formatRunHtml } from '../../../src/cli/evaluations/format-html.ts'
import type { Details, ReportedResult, RunReport } from '../../../src/cli/evaluations/load-report.ts'
import { formatAnalyticsHtml } from '../../../src/cli/usage/format-analytics-html.ts'
import { formatUsageHtml } from '../../../src/cli/usage/format-usage-html.ts'
import type { Conversation } from '../../../src/contract/families/conversations.ts'

export const HOSTILE =
  `<script>window.attacked = 1</script><img src="https://attacker.example/a.png" onerror="window.attacked = 1">` +
  `"' onmouseover="window.attacked = 1" </pre></details></style><style>body{display:none}</style>` +
  `<svg onload="window.attacked = 1"><iframe src="https://attacker.example/"></iframe>` +
  `<meta http-equiv="refresh" content="0;url=https://attacker.example/">`
const LONG_WORD = 'x'.repeat(400)
const AGENT = 'agent_019a3c5e-7d2b-7c31-9a44-0c9f5d1e2b3a'

const MARKDOWN = `## Leave

You get **25 days** of leave [1], and *two more* after \`five\` years.

| Country | Days |
|---|--:|
| Germany | 30 |
| ${LONG_WORD} | 25 |

1. Ask your manager.
2. Write it down:

\`\`\`ts
const days = 25 // ${LONG_WORD}
\`\`\`

- [x] done
- [link](javascript:alert(1)) and [page](https://example.com/?a=1&b=2)

![image](https://attacker.example/b.png)

${HOSTILE}
`

const short = (text: string) => ({ text, omitted: 0 })

const createRun = (day: number, pass_rate: number): Details => ({
  run_id: `run_019a3c5e-7d2b-7c31-9a44-0c9f5d1e2b${10 + day}`,
  evaluation_id: 'eval_019a3c5e-7d2b-7c31-9a44-0c9f5d1e2b3a',
  status: 'completed',
  created_at: `2026-01-${10 + day}T09:30:00.000Z`,
  started_at: null,
  finished_at: null,
  error: null,
  concurrency: 4,
  repeats: 1,
  done: 20,
  summary: {
    total: 20,
    passed: Math.round(20 * pass_rate),
    failed: 20 - Math.round(20 * pass_rate),
    errors: 0,
    pass_rate,
    average_score: pass_rate,
    latency_p50_ms: 812,
    latency_p95_ms: 2310,
    tokens: 12_345,
    cost: 0.0123,
  },
  configuration: { evaluation: { name: 'Leave questions' }, target: { model: day > 4 ? 'gpt-5-mini' : 'gpt-5', prompt: HOSTILE } },
})

export const createResult = (position: number, passed: boolean, text = ''): ReportedResult => ({
  position,
  repeat: 1,
  input: short(position % 5 === 4 ? `${HOSTILE}\n${LONG_WORD}` : 'How many days of leave do I get after five years with the company?'),
  expected: short('You get 27 days of leave: 25 days, and two more after five years.'),
  actual: short(text || 'You get 25 days of leave: 25 days, and none after five years.'),
  passed,
  score: passed ? 1 : 0.5,
  scores: {
    contains: { passed, score: passed ? 1 : 0, threshold: 1 },
    llm_judge: { passed, score: passed ? 0.9 : 0.4, threshold: 0.7, reason: `The answer misses two days. ${HOSTILE}` },
  },
  latency_ms: 812,
  usage: { input_tokens: 500, output_tokens: 40, total_tokens: 540 },
  cost: 0.0006,
  error: position === 2 ? `The provider rejected the request: ${HOSTILE}` : null,
  metadata: {},
  cited: ['leave.md', HOSTILE],
})

export function createRunReport(results: ReportedResult[]): RunReport {
  const trend = [0.5, 0.6, 0.55, 0.8, 0.9, 0.85].map((rate, index) => createRun(index, rate))
  const [before, run] = trend.slice(-2) as [Details, Details]
  const { configuration: _, ...a } = before
  const { configuration: __, ...b } = run
  const change = { position: 3, input: short('How many days?'), expected: short('27 days'), scores: [1, 0.5] as [number, number] }
  const texts = { before: short('You get 27 days of leave [1].'), now: short('You get 25 days of leave [1].') }
  return {
    name: `Leave questions ${HOSTILE}`,
    run,
    results,
    omittedResults: 0,
    baseline: {
      run: before,
      comparison: { a, b, better: 1, worse: 2, same: 17, only_a: 0, only_b: 1, pass_rate_change: -0.05, p_value: 0.5, verdict: 'same' },
      changes: [
        { ...change, ...texts, change: 'worse' },
        { ...change, before: short(HOSTILE), now: { text: LONG_WORD, omitted: 980_000 }, change: 'worse' },
        { ...change, before: undefined, now: texts.before, change: 'better' },
      ],
    },
    trend,
  }
}

const createConversation = (): Conversation => ({
  id: 'conv_019a3c5e-7d2b-7c31-9a44-0c9f5d1e2b3a',
  title: `Leave in summer ${HOSTILE}`,
  agent_id: AGENT,
  user_id: 'local',
  status: 'active',
  message_count: 2,
  summary: null,
  created_at: '2026-01-31T09:30:00.000Z',
  updated_at: '2026-01-31T09:30:00.000Z',
  messages: [
    { id: 'msg_1', role: 'user', content: `How many days of leave do I get?\n${HOSTILE}`, timestamp: '2026-01-31T09:30:00.000Z' },
    {
      id: 'msg_2',
      role: 'assistant',
      content: MARKDOWN,
      timestamp: '2026-01-31T09:30:04.000Z',
      finish_reason: 'length',
      tool_calls: [{ id: 'call_1', name: 'search_handbook', arguments: { query: HOSTILE }, result: { passages: [1] } }],
      citations: [
        {
          index: 1,
          source: 'handbook/leave.pdf',
          page: 3,
          document_id: 'doc_1',
          content: `Every employee gets twenty-five days.\n${HOSTILE}\n${LONG_WORD}`,
          score: 0.9,
          cited: true,
          headings: 'Leave › Annual leave',
        },
      ],
    },
  ],
})

const spend = (tokens: number, cost: number | null) => ({
  tokens,
  cost,
  estimated_tokens: 0,
  unpriced_tokens: cost === null ? tokens : 0,
})
const date = (day: number) => `2026-01-${String(day + 1).padStart(2, '0')}`
const names = new Map([[AGENT, `Handbook helper ${HOSTILE}`]])
const report = { title: `Last 30 days, agent "${HOSTILE}"`, names, currency: 'EUR', top: 3 }

function createUsage(): string {
  const by_model = { [LONG_WORD]: spend(1_200_000, 1.5), m2: spend(45_000, null), m3: spend(300, 0), m4: spend(1, 0) }
  const usage = { total_tokens: 1_245_300, input_tokens: 1_200_000, output_tokens: 45_300, cached_tokens: 5000, estimated_tokens: 300 }
  const by_entity = { agent: { [AGENT]: spend(1_245_300, 1.5) }, user: { ada: spend(1, 0) } }
  const by_day = Array.from({ length: 30 }, (_, day) => ({ date: date(day), ...spend((day * 7919) % 90_000, 0.05 * day) }))
  return formatUsageHtml(
    { ...usage, calls: 1234, total_cost: 1.5, currency: 'EUR', unpriced_tokens: 45_000, by_model, by_entity },
    { by_day },
    report,
  )
}

function createAnalytics(): string {
  const by_day = Array.from({ length: 30 }, (_, day) => ({
    date: date(day),
    conversations: day % 4,
    messages: (day * 31) % 47,
    tokens: (day * 7919) % 90_000,
  }))
  const figures = { total_conversations: 12, total_messages: 640, average_messages_per_conversation: 5.3, active_users: 7, tool_calls: 31 }
  const times = { completion_rate: 0.5, average_response_time_ms: 1234, p95_response_time_ms: 61_000 }
  const totals = { total_tokens: 1_245_300, total_cost: 1.5, currency: 'EUR', unpriced_tokens: 45_000 }
  const by_agent = { [AGENT]: { conversations: 12, messages: 640, tokens: 1_245_300 } }
  return formatAnalyticsHtml({ ...figures, ...times, ...totals, by_day, by_agent }, report)
}

export const createSamples = (): Record<string, string> => ({
  run: formatRunHtml(createRunReport(Array.from({ length: 20 }, (_, position) => createResult(position, position > 3)))),
  usage: createUsage(),
  analytics: createAnalytics(),
  conversation: formatConversationHtml(createConversation(), { user: 'You', agent: `Handbook helper ${HOSTILE}` }),
})
