/** Shows how conversations go. */
import { string } from '@oclif/core/flags'
import { CadreCommand } from '../src/cli/oclif/base-command.ts'
import { namesOf } from '../src/cli/resources/resource-names.ts'
import { paperFor } from '../src/cli/terminal/table.ts'
import { whoseFrom } from '../src/cli/usage/entity-flags.ts'
import { analyticsText } from '../src/cli/usage/format-analytics.ts'
import { periodFlags, periodFrom } from '../src/cli/usage/period-flags.ts'
import { reportFlags, titled } from '../src/cli/usage/report.ts'
import { call } from '../src/client/call.ts'
import { analyticsRoutes } from '../src/contract/families/analytics.ts'

export default class Analytics extends CadreCommand {
  static override description =
    'Show how conversations go: how many, how long, how fast the replies, by day and by agent.\n\nConversations count where they were begun or went on; replies that failed or were aborted have no response time. More than 62 days are shown by month.'
  static override examples = [
    { command: 'cadre analytics', description: 'The last 30 days' },
    { command: "cadre analytics --agent 'Handbook helper' --from 2026-01-01", description: 'One agent, since then' },
    { command: "cadre analytics --days 7 --json | jq '.p95_response_time_ms'", description: 'For a script' },
  ]
  static override flags = {
    ...periodFlags,
    agent: string({ description: 'Only conversations with this agent.', helpValue: '<name>' }),
    ...reportFlags,
  }

  override async run(): Promise<void> {
    const { flags } = await this.parse(Analytics)
    const period = periodFrom(flags)
    const connection = await this.connect(flags)
    const whose = await whoseFrom(connection, { agent: flags.agent })
    const agent = whose.query.entity_id === undefined ? {} : { agent_id: whose.query.entity_id }
    const { data } = await call(connection, analyticsRoutes.conversations, { query: { ...period.query, ...agent } })
    const format = this.formatOf(flags)
    if (format === 'json' || format === 'yaml') return this.print({ data }, flags)
    if (format === 'csv') return this.print({ data: data.by_day }, flags)
    const title = titled(period, whose)
    if (data.total_conversations === 0) return this.narrate(`${title}: no conversations.`)
    const names = await namesOf(connection, 'agent', Object.keys(data.by_agent))
    process.stdout.write(`${analyticsText(data, { title, names, paper: paperFor(process.stdout), top: flags.top })}\n`)
  }
}
