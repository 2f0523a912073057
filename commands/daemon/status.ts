import { CadreCommand } from '../../src/cli/oclif/base-command.ts'
import { ReportedError } from '../../src/cli/terminal/failures/command-errors.ts'
import { EXIT } from '../../src/cli/terminal/failures/exit-codes.ts'
import { findDaemonProcess } from '../../src/client/address.ts'
import { fetchDaemonHealth } from '../../src/client/find-daemon.ts'
import { version } from '../../src/version.ts'

export default class DaemonStatus extends CadreCommand {
  static override description = 'Show whether the daemon is running.\n\nDoes not start it. Exits with 5 if it is not running.'
  static override examples = [
    { command: 'cadre daemon status', description: 'Show the status' },
    { command: 'cadre daemon status --json', description: 'Print it as JSON' },
  ]

  override async run(): Promise<void> {
    const { flags } = await this.parse(DaemonStatus)
    this.requireLocal(flags)
    const record = findDaemonProcess(this.paths)
    const found = record && (await fetchDaemonHealth(this.paths, record))
    if (!record || !found) {
      await this.printUnlessTable({ running: false, home: this.paths.home }, flags)
      this.notify(
        record
          ? `Process ${record.pid} does not respond at ${record.url}. To diagnose it: cadre doctor`
          : 'The Cadre daemon is not running. To start it: cadre daemon start',
      )
      throw new ReportedError(EXIT.unreachable)
    }
    const { pid, url, started_at } = record
    await this.print(
      { data: { running: true, health: found.status, url, pid, version: found.version, started_at, home: this.paths.home } },
      flags,
    )
    if (found.version !== version) this.notify(`This command is version ${version}. To update the daemon: cadre daemon restart`)
  }
}
