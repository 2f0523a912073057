import { string } from '@oclif/core/flags'
import { htmlFlags, writeReport } from '../src/cli/html/write-report.ts'
import { CadreCommand } from '../src/cli/oclif/base-command.ts'
import { fetchNamesOfKind } from '../src/cli/resources/resource-names.ts'
import { getOutput } from '../src/cli/terminal/table.ts'
import { resolveEntityFilter } from '../src/cli/usage/entity-flags.ts'
import { formatAnalytics } from '../src/cli/usage/format-analytics.ts'
import { parsePeriod, periodFlags } from '../src/cli/usage/period-flags.ts'
import { formatTitle, reportFlags } from '../src/cli/usage/report.ts'
import { call } from '../src/client/call.ts'
import { analyticsRoutes } from '../src/contract/families/analytics.ts'

export default class Analytics extends CadreCommand {
  static override description =
    'Show conversation statistics by day and by agent.\n\n' +
    'A conversation counts on every day with a new message; failed and aborted replies have no response time. Periods over 62 ' +
    'days are grouped by month.'
  static override examples = [
    { command: 'cadre analytics', description: 'Show the last 30 days' },
    { command: "cadre analytics --agent 'Handbook helper' --from 2026-01-01", description: 'Show one agent since a date' },
    { command: 'cadre analytics --html conversations.html', description: 'Write a report to share' },
    { command: "cadre analytics --days 7 --json | jq '.p95_response_time_ms'", description: 'Print one figure in a script' },
  ]
  static override flags = {
    ...periodFlags,
    agent: string({ description: 'Include only conversations with this agent.', helpValue: '<name>' }),
    ...reportFlags,
    ...htmlFlags,
  }

  override async run(): Promise<void> {
    const { flags } = await this.parse(Analytics)
    const period = parsePeriod(flags)
    const connection = await this.connect(flags)
    const entity = await resolveEntityFilter(connection, { agent: flags.agent })
    const agent = entity.query.entity_id === undefined ? {} : { agent_id: entity.query.entity_id }
    const { data } = await call(connection, analyticsRoutes.conversations, { query: { ...period.query, ...agent } })
    const format = flags.html === undefined ? this.getFormat(flags) : 'table'
    if (format === 'json' || format === 'yaml') return this.print({ data }, flags)
    if (format === 'csv') return this.print({ data: data.by_day }, flags)
    const title = formatTitle(period, entity)
    if (data.total_conversations === 0 && flags.html === undefined) return this.notify(`${title}: no conversations.`)
    const names = await fetchNamesOfKind(connection, 'agent', Object.keys(data.by_agent))
    const report = { title, names, currency: data.currency, output: getOutput(process.stdout), top: flags.top }
    if (flags.html === undefined) return void process.stdout.write(`${formatAnalytics(data, report)}\n`)
    const { formatAnalyticsHtml } = await import('../src/cli/usage/format-analytics-html.ts')
    writeReport(flags.html, formatAnalyticsHtml(data, report), flags, this.notify)
  }
}
