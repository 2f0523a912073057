/** Starts the daemon in the background. */

import { daemonArguments, daemonFlags } from '../../src/cli/daemon/daemon-flags.ts'
import { CadreCommand } from '../../src/cli/oclif/base-command.ts'
import { runningDaemon, startDaemon } from '../../src/client/daemon.ts'

export default class DaemonStart extends CadreCommand {
  static override description = 'Start the daemon in the background and wait until it is ready.\n\nDoes nothing when it is running already.'
  static override examples = [
    { command: 'cadre daemon start', description: 'At the usual address' },
    { command: 'cadre daemon start --port 0', description: 'At any free port' },
  ]
  static override flags = daemonFlags

  override async run(): Promise<void> {
    const { flags } = await this.parse(DaemonStart)
    const running = await runningDaemon(this.paths)
    if (running) this.narrate(`The Cadre daemon is running at ${running.url}`)
    const daemon =
      running ?? (await startDaemon({ paths: this.paths, root: this.config.root, narrate: this.narrate, options: daemonArguments(flags) }))
    if (this.formatOf(flags) !== 'table') await this.print({ data: { ...daemon } }, flags)
  }
}
