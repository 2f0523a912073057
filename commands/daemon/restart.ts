/** Stops the daemon and starts it again. */
import { CadreCommand } from '../../src/cli/base-command.ts'
import { daemonArguments, daemonFlags } from '../../src/cli/daemon-flags.ts'
import { livingDaemon } from '../../src/client/address.ts'
import { startDaemon, stopDaemon } from '../../src/client/daemon.ts'

export default class DaemonRestart extends CadreCommand {
  static override description =
    'Stop the daemon and start it again, at the same address unless told otherwise.\n\nThis is what brings a daemon to the version of this command.'
  static override examples = [{ command: 'cadre daemon restart', description: 'After an upgrade' }]
  static override flags = daemonFlags

  override async run(): Promise<void> {
    const { flags } = await this.parse(DaemonRestart)
    const before = livingDaemon(this.paths)
    const address = before ? new URL(before.url) : undefined
    await stopDaemon(this.paths)
    const options = daemonArguments({ ...flags, port: flags.port ?? (address ? Number(address.port || 80) : undefined) })
    const daemon = await startDaemon({ paths: this.paths, root: this.config.root, narrate: this.narrate, options })
    if (this.formatOf(flags) !== 'table') await this.print({ data: { ...daemon } }, flags)
  }
}
