import { describeWatchedFolders } from '../src/cli/knowledge/format-watch-notice.ts'
import { describeRunningSyncs } from '../src/cli/knowledge/running-syncs.ts'
import { CadreCommand } from '../src/cli/oclif/base-command.ts'
import { formatBytes, formatDuration } from '../src/cli/terminal/format-quantity.ts'
import { call } from '../src/client/call.ts'
import { modelRoutes } from '../src/contract/families/models.ts'
import { systemRoutes } from '../src/contract/families/system.ts'

export default class Status extends CadreCommand {
  static override description = 'Show the state of the service: resources, disk usage and queues.'
  static override examples = [
    { command: 'cadre status', description: 'Show the status' },
    { command: 'cadre status --json', description: 'Print it as JSON' },
  ]

  override async run(): Promise<void> {
    const { flags } = await this.parse(Status)
    const connection = await this.connect(flags)
    const { data } = await call(connection, systemRoutes.status, {})
    if (this.getFormat(flags) !== 'table') return this.print({ data }, flags)
    const { uptime_seconds, counts, sizes, queues, memory, started_at, ...rest } = data
    const sized = Object.fromEntries(Object.entries(sizes).map(([name, size]) => [name, formatBytes(size)]))
    const { data: settings } = await call(connection, systemRoutes.getSettings, {})
    const { data: model } = await call(connection, modelRoutes.get, { params: { id: settings.default_model_id } })
    const shown = { ...rest, default_model: model.name, uptime: formatDuration(uptime_seconds), memory: formatBytes(memory.rss) }
    const indexing = await describeRunningSyncs(connection)
    const watching = await describeWatchedFolders(connection)
    const active = { ...(indexing.length > 0 ? { indexing } : {}), ...(watching.length > 0 ? { watching } : {}) }
    await this.print({ data: { ...shown, ...active, resources: some(counts), sizes: sized, queues: some(queues) } }, flags)
  }
}

/** Omits zero counts. */
function some(counts: Record<string, number>): Record<string, number> {
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0))
}
