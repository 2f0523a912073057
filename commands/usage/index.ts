/** Shows what models used and cost. */
import { CadreCommand } from '../../src/cli/oclif/base-command.ts'
import { paperFor } from '../../src/cli/terminal/table.ts'
import { whoseFlags, whoseFrom } from '../../src/cli/usage/entity-flags.ts'
import { usageText } from '../../src/cli/usage/format-usage.ts'
import { periodFlags, periodFrom } from '../../src/cli/usage/period-flags.ts'
import { namesOfSpent, reportFlags, spentRows, titled } from '../../src/cli/usage/report.ts'
import { call } from '../../src/client/call.ts'
import { usageRoutes } from '../../src/contract/families/usage.ts'

export default class Usage extends CadreCommand {
  static override description =
    'Show how many tokens were used and what they cost, by model and by whoever used them.\n\nEvery call of a model is counted, also those that failed or were aborted. Costs are in whatever the prices of the models are in; – is a price that is not known, ≥ a sum that leaves some out.'
  static override examples = [
    { command: 'cadre usage', description: 'The last 30 days' },
    { command: "cadre usage --agent 'Handbook helper' --days 7", description: 'One agent, this week' },
    { command: 'cadre usage --from 2026-01-01 --to 2026-01-31 --output csv', description: 'A month, for a spreadsheet' },
    { command: "cadre usage --days 1 --json | jq '.total_tokens'", description: 'Today, for a script' },
  ]
  static override flags = { ...periodFlags, ...whoseFlags, ...reportFlags }

  override async run(): Promise<void> {
    const { flags } = await this.parse(Usage)
    const period = periodFrom(flags)
    const connection = await this.connect(flags)
    const whose = await whoseFrom(connection, flags)
    const { data } = await call(connection, usageRoutes.stats, { query: { ...period.query, ...whose.query } })
    const format = this.formatOf(flags)
    if (format === 'json' || format === 'yaml') return this.print({ data }, flags)
    const title = titled(period, whose)
    if (data.calls === 0 && format === 'table') return this.narrate(`${title}: no model was called.`)
    const names = await namesOfSpent(connection, data, flags.top)
    if (format === 'csv') return this.print({ data: spentRows(data, names) }, flags)
    // What it is asked about alone needs no chart of its own.
    const by_entity = whose.query.entity_id === undefined ? data.by_entity : {}
    process.stdout.write(`${usageText({ ...data, by_entity }, { title, names, paper: paperFor(process.stdout), top: flags.top })}\n`)
  }
}
