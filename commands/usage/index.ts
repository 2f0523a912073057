import { htmlFlags, writeReport } from '../../src/cli/html/write-report.ts'
import { CadreCommand } from '../../src/cli/oclif/base-command.ts'
import { getOutput } from '../../src/cli/terminal/table.ts'
import { entityFlags, resolveEntityFilter } from '../../src/cli/usage/entity-flags.ts'
import { formatUsage } from '../../src/cli/usage/format-usage.ts'
import { parsePeriod, periodFlags } from '../../src/cli/usage/period-flags.ts'
import { fetchTopNames, formatTitle, listUsageRows, reportFlags } from '../../src/cli/usage/report.ts'
import { call } from '../../src/client/call.ts'
import { usageRoutes } from '../../src/contract/families/usage.ts'

export default class Usage extends CadreCommand {
  static override description =
    'Show token usage and costs by model, agent and user.\n\n' +
    'Includes failed and aborted calls. – means that the price is unknown, ≥ that some tokens have no price.'
  static override examples = [
    { command: 'cadre usage', description: 'Show the last 30 days' },
    { command: "cadre usage --agent 'Handbook helper' --days 7", description: 'Show one agent in the last week' },
    { command: 'cadre usage --from 2026-01-01 --to 2026-01-31 --output csv', description: 'Export a month as CSV' },
    { command: 'cadre usage --html usage.html', description: 'Write a report to share' },
    { command: "cadre usage --days 1 --json | jq '.total_tokens'", description: "Print today's tokens" },
  ]
  static override flags = { ...periodFlags, ...entityFlags, ...reportFlags, ...htmlFlags }

  override async run(): Promise<void> {
    const { flags } = await this.parse(Usage)
    const period = parsePeriod(flags)
    const connection = await this.connect(flags)
    const entity = await resolveEntityFilter(connection, flags)
    const { data } = await call(connection, usageRoutes.stats, { query: { ...period.query, ...entity.query } })
    const format = flags.html === undefined ? this.getFormat(flags) : 'table'
    if (format === 'json' || format === 'yaml') return this.print({ data }, flags)
    const title = formatTitle(period, entity)
    if (data.calls === 0 && format === 'table' && flags.html === undefined) return this.notify(`${title}: no model was called.`)
    const names = await fetchTopNames(connection, data, flags.top)
    if (format === 'csv') return this.print({ data: listUsageRows(data, names) }, flags)
    // A chart of the one entity the report is filtered by would repeat the total.
    const by_entity = entity.query.entity_id === undefined ? data.by_entity : {}
    const usage = { ...data, by_entity }
    const report = { title, names, currency: data.currency, output: getOutput(process.stdout), top: flags.top }
    const { data: costs } = await call(connection, usageRoutes.costs, { query: { ...period.query, ...entity.query } })
    if (flags.html === undefined) return void process.stdout.write(`${formatUsage(usage, costs.by_day, report)}\n`)
    const { formatUsageHtml } = await import('../../src/cli/usage/format-usage-html.ts')
    writeReport(flags.html, formatUsageHtml(usage, costs, report), flags, this.notify)
  }
}
