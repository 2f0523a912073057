import { daemonFlags, formatDaemonArguments } from '../../src/cli/daemon/daemon-flags.ts'
import { CadreCommand } from '../../src/cli/oclif/base-command.ts'
import { findRunningDaemon } from '../../src/client/find-daemon.ts'

export default class DaemonStart extends CadreCommand {
  static override description = 'Start the daemon in the background and wait until it is ready.\n\nDoes nothing if it is already running.'
  static override examples = [
    { command: 'cadre daemon start', description: 'Start on the default port' },
    { command: 'cadre daemon start --port 0', description: 'Start on a free port' },
  ]
  static override flags = daemonFlags

  override async run(): Promise<void> {
    const { flags } = await this.parse(DaemonStart)
    this.requireLocal(flags)
    const running = await findRunningDaemon(this.paths)
    if (running) this.notify(`The Cadre daemon is already running at ${running.url}`)
    const daemon = running ?? (await this.startDaemon(formatDaemonArguments(flags)))
    await this.printUnlessTable({ ...daemon }, flags)
  }
}
