import { CadreCommand } from '../../src/cli/oclif/base-command.ts'
import { getOutput } from '../../src/cli/terminal/table.ts'
import { entityFlags, resolveEntityFilter } from '../../src/cli/usage/entity-flags.ts'
import { formatCosts } from '../../src/cli/usage/format-usage.ts'
import { parsePeriod, periodFlags } from '../../src/cli/usage/period-flags.ts'
import { fetchTopNames, formatTitle, reportFlags } from '../../src/cli/usage/report.ts'
import { call } from '../../src/client/call.ts'
import { usageRoutes } from '../../src/contract/families/usage.ts'

export default class UsageCosts extends CadreCommand {
  static override description =
    'Show costs by day and model.\n\n' +
    'Periods of more than 62 days are shown by month. – means that the price is unknown, ≥ that some tokens have no price.'
  static override examples = [
    { command: 'cadre usage costs', description: 'Show the last 30 days' },
    { command: 'cadre usage costs --from 2026-01-01 --model gpt-5', description: 'Show one model since a date' },
    { command: "cadre usage costs --days 7 --json | jq '.by_day[] | [.date, .cost]'", description: 'Print the cost of each day' },
  ]
  static override flags = { ...periodFlags, ...entityFlags, ...reportFlags }

  override async run(): Promise<void> {
    const { flags } = await this.parse(UsageCosts)
    const period = parsePeriod(flags)
    const connection = await this.connect(flags)
    const entity = await resolveEntityFilter(connection, flags)
    const { data } = await call(connection, usageRoutes.costs, { query: { ...period.query, ...entity.query } })
    const format = this.getFormat(flags)
    if (format === 'json' || format === 'yaml') return this.print({ data }, flags)
    if (format === 'csv') return this.print({ data: data.by_day.map((day) => ({ ...day, currency: data.currency })) }, flags)
    const title = formatTitle(period, entity)
    if (Object.keys(data.by_model).length === 0) return this.notify(`${title}: no model was called.`)
    const names = await fetchTopNames(connection, { ...data, by_entity: {} }, flags.top)
    process.stdout.write(
      `${formatCosts(data, { title, names, currency: data.currency, output: getOutput(process.stdout), top: flags.top })}\n`,
    )
  }
}
