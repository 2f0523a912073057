import { CadreCommand } from '../../src/cli/oclif/base-command.ts'
import { showIfSlow } from '../../src/client/call.ts'
import { stopDaemon } from '../../src/client/stop-daemon.ts'

export default class DaemonStop extends CadreCommand {
  static override description =
    'Stop the daemon and wait until it has exited.\n\n' +
    'Requests in progress get up to ten seconds to finish. Acknowledged changes are never lost.'
  static override examples = [{ command: 'cadre daemon stop', description: 'Stop the daemon if it is running' }]

  override async run(): Promise<void> {
    const { flags } = await this.parse(DaemonStop)
    this.requireLocal(flags)
    const stopped = await showIfSlow({ showProgress: this.showProgress }, 'Stopping the daemon', () => stopDaemon(this.paths))
    this.notify(stopped ? 'Stopped the Cadre daemon.' : 'The Cadre daemon is not running.')
    await this.printUnlessTable({ stopped }, flags)
  }
}
