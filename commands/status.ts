/** Shows the state of the service. */
import { CadreCommand } from '../src/cli/base-command.ts'
import { bytes, duration } from '../src/cli/quantity.ts'
import { call } from '../src/client/call.ts'
import { systemRoutes } from '../src/contract/system.ts'

export default class Status extends CadreCommand {
  static override description = 'Show the state of the service: what it holds, how much space that takes, what waits.'
  static override examples = [
    { command: 'cadre status', description: 'For people' },
    { command: 'cadre status --json', description: 'For scripts' },
  ]

  override async run(): Promise<void> {
    const { flags } = await this.parse(Status)
    const { data } = await call(await this.connect(flags), systemRoutes.status, {})
    if (this.formatOf(flags) !== 'table') return this.print({ data }, flags)
    const { uptime_seconds, counts, sizes, queues, memory, started_at, ...rest } = data
    const sized = Object.fromEntries(Object.entries(sizes).map(([name, size]) => [name, bytes(size)]))
    await this.print({ data: { ...rest, uptime: duration(uptime_seconds), memory: bytes(memory.rss), resources: counts, sizes: sized, queues } }, flags)
  }
}
