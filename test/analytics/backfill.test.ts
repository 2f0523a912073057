import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { createAnalyticsService } from '../../daemon/analytics/service.ts'
import { openDatabase } from '../../daemon/store/database.ts'
import { MIGRATIONS, migrate } from '../../daemon/store/migrate.ts'

const test = suite('analytics backfill')

test('messages from before the migration are included in the sums', async () => {
  const root = mkdtempSync(join(tmpdir(), 'cadre-analytics-'))
  const database = openDatabase(join(root, 'cadre.db'))
  await migrate(
    database,
    MIGRATIONS.filter(({ name }) => name < '0009'),
  )
  const at = '2026-01-31T09:30:00.000Z'
  const details = JSON.stringify({
    usage: { total_tokens: 18 },
    cost: 0.016,
    latency_ms: 1200.4,
    finish_reason: 'stop',
    tool_calls: [{ id: 'a' }],
  })
  await database.write(async (transaction) => {
    await transaction.run(
      "INSERT INTO conversations (id, agent_id, user_id, status, created_at, updated_at) VALUES ('c', 'a', 'ada', 'active', ?, ?)",
      [at, at],
    )
    for (const [id, role, said] of [
      ['m1', 'user', '{}'],
      ['m2', 'assistant', details],
    ])
      await transaction.run("INSERT INTO messages (id, conversation_id, role, content, details, created_at) VALUES (?, 'c', ?, '', ?, ?)", [
        id as string,
        role as string,
        said as string,
        at,
      ])
  })
  await migrate(database)
  const { by_day: _, ...found } = await createAnalyticsService(database, () => new Date(at)).getConversationAnalytics({})
  assert.equal(found, {
    total_conversations: 1,
    total_messages: 2,
    average_messages_per_conversation: 2,
    active_users: 1,
    completion_rate: 0,
    average_response_time_ms: 1200,
    p95_response_time_ms: 1200,
    total_tokens: 18,
    total_cost: 0.016,
    currency: 'USD',
    unpriced_tokens: 0,
    tool_calls: 1,
    by_agent: { a: { conversations: 1, messages: 2, tokens: 18 } },
  })
  await database.close()
  rmSync(root, { recursive: true, force: true })
})

test.run()
