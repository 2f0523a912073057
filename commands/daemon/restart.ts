/** Stops the daemon and starts it again. */

import { daemonArguments, daemonFlags } from '../../src/cli/daemon/daemon-flags.ts'
import { CadreCommand } from '../../src/cli/oclif/base-command.ts'
import { livingDaemon } from '../../src/client/address.ts'
import { startDaemon, stopDaemon } from '../../src/client/daemon.ts'
import { environmentOverrides } from '../../src/config.ts'

export default class DaemonRestart extends CadreCommand {
  static override description =
    'Stop the daemon and start it again, at the same address unless a flag or CADRE_PORT says otherwise.\n\nThis is what brings a daemon to the version of this command.'
  static override examples = [
    { command: 'cadre daemon restart', description: 'After an upgrade' },
    { command: 'cadre daemon restart --port 8080', description: 'At another port' },
  ]
  static override flags = daemonFlags

  override async run(): Promise<void> {
    const { flags } = await this.parse(DaemonRestart)
    const before = livingDaemon(this.paths)
    // Where any free port will do, the one it had will.
    const wanted = flags.port ?? (environmentOverrides().port || undefined)
    await stopDaemon(this.paths)
    const options = daemonArguments({ ...flags, port: wanted ?? (before ? Number(new URL(before.url).port || 80) : undefined) })
    const daemon = await startDaemon({ paths: this.paths, root: this.config.root, narrate: this.narrate, options })
    if (this.formatOf(flags) !== 'table') await this.print({ data: { ...daemon } }, flags)
  }
}
