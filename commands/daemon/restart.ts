import { daemonFlags, formatDaemonArguments } from '../../src/cli/daemon/daemon-flags.ts'
import { CadreCommand } from '../../src/cli/oclif/base-command.ts'
import { findDaemonProcess } from '../../src/client/address.ts'
import { showIfSlow } from '../../src/client/call.ts'
import { stopDaemon } from '../../src/client/stop-daemon.ts'
import { environmentOverrides } from '../../src/config.ts'

export default class DaemonRestart extends CadreCommand {
  static override description =
    'Restart the daemon, for example after an upgrade.\n\nKeeps the address unless a flag or CADRE_PORT changes it.'
  static override examples = [
    { command: 'cadre daemon restart', description: 'Restart at the same address' },
    { command: 'cadre daemon restart --port 8080', description: 'Restart on another port' },
  ]
  static override flags = daemonFlags

  override async run(): Promise<void> {
    const { flags } = await this.parse(DaemonRestart)
    this.requireLocal(flags)
    const before = findDaemonProcess(this.paths)
    // CADRE_PORT=0 means any free port, so the previous one is kept.
    const wanted = flags.port ?? (environmentOverrides().port || undefined)
    await showIfSlow({ showProgress: this.showProgress }, 'Stopping the daemon', () => stopDaemon(this.paths))
    const options = formatDaemonArguments({ ...flags, port: wanted ?? (before ? Number(new URL(before.url).port || 80) : undefined) })
    const daemon = await this.startDaemon(options)
    await this.printUnlessTable({ ...daemon }, flags)
  }
}
