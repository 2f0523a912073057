/** Shows what models cost, day by day. */
import { CadreCommand } from '../../src/cli/oclif/base-command.ts'
import { paperFor } from '../../src/cli/terminal/table.ts'
import { whoseFlags, whoseFrom } from '../../src/cli/usage/entity-flags.ts'
import { costsText } from '../../src/cli/usage/format-usage.ts'
import { periodFlags, periodFrom } from '../../src/cli/usage/period-flags.ts'
import { namesOfSpent, reportFlags, titled } from '../../src/cli/usage/report.ts'
import { call } from '../../src/client/call.ts'
import { usageRoutes } from '../../src/contract/families/usage.ts'

export default class UsageCosts extends CadreCommand {
  static override description =
    'Show what models cost, day by day.\n\nMore than 62 days are shown by month. Costs are in whatever the prices of the models are in; – is a price that is not known, ≥ a sum that leaves some out. Where nothing costs anything, the bars show tokens.'
  static override examples = [
    { command: 'cadre usage costs', description: 'The last 30 days' },
    { command: 'cadre usage costs --from 2026-01-01 --model gpt-5', description: 'One model, since then' },
    { command: "cadre usage costs --days 7 --json | jq '.by_day[] | [.date, .cost]'", description: 'For a script' },
  ]
  static override flags = { ...periodFlags, ...whoseFlags, ...reportFlags }

  override async run(): Promise<void> {
    const { flags } = await this.parse(UsageCosts)
    const period = periodFrom(flags)
    const connection = await this.connect(flags)
    const whose = await whoseFrom(connection, flags)
    const { data } = await call(connection, usageRoutes.costs, { query: { ...period.query, ...whose.query } })
    const format = this.formatOf(flags)
    if (format === 'json' || format === 'yaml') return this.print({ data }, flags)
    if (format === 'csv') return this.print({ data: data.by_day }, flags)
    const title = titled(period, whose)
    if (Object.keys(data.by_model).length === 0) return this.narrate(`${title}: no model was called.`)
    const names = await namesOfSpent(connection, { ...data, by_entity: {} }, flags.top)
    process.stdout.write(`${costsText(data, { title, names, paper: paperFor(process.stdout), top: flags.top })}\n`)
  }
}
