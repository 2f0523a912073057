import { resolveModel } from '../src/cli/ask/resolve-model.ts'
import { toProgressStep } from '../src/cli/knowledge/follow-sync.ts'
import { describeWatchedFolders } from '../src/cli/knowledge/format-watch-notice.ts'
import { CadreCommand } from '../src/cli/oclif/base-command.ts'
import { formatBytes, formatDuration } from '../src/cli/terminal/format-quantity.ts'
import { formatPlainLine } from '../src/cli/terminal/progress-bar.ts'
import { sanitizeLine } from '../src/cli/terminal/text.ts'
import { call } from '../src/client/call.ts'
import type { Connection } from '../src/client/request.ts'
import { knowledgeSourceRoutes } from '../src/contract/families/knowledge-sources.ts'
import { systemRoutes } from '../src/contract/families/system.ts'

const MAX_DESCRIBED = 5
const UNKNOWN_PACE = { rate: 0, secondsLeft: undefined }

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
    const model = await resolveModel(connection)
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

/** Returns one line per source, such as `Handbook: indexing, 120 of 3,000 passages`. */
async function describeRunningSyncs(connection: Connection): Promise<string[]> {
  const query = { status: 'syncing', limit: MAX_DESCRIBED, sort: 'name', order: 'asc' } as object
  const { data, pagination } = await call(connection, knowledgeSourceRoutes.list, { query })
  const sources = await Promise.all(data.map(({ id }) => call(connection, knowledgeSourceRoutes.get, { params: { id } })))
  const lines = sources.map(({ data: { name, progress } }) => {
    const step = progress && formatPlainLine(toProgressStep(progress), UNKNOWN_PACE)
    return `${sanitizeLine(name)}${step ? `: ${step.toLowerCase().replace(': ', ', ')}` : ''}`
  })
  return pagination.total > lines.length ? [...lines, `and ${pagination.total - lines.length} more`] : lines
}
