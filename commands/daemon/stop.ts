/** Stops the daemon. */
import { CadreCommand } from '../../src/cli/oclif/base-command.ts'
import { stopDaemon } from '../../src/client/daemon.ts'

export default class DaemonStop extends CadreCommand {
  static override description =
    'Stop the daemon and wait until it is gone.\n\nWhat it is doing is finished first, for up to ten seconds; nothing that was acknowledged is lost.'
  static override examples = [{ command: 'cadre daemon stop', description: 'Also good when none is running' }]

  override async run(): Promise<void> {
    const { flags } = await this.parse(DaemonStop)
    const stopped = await stopDaemon(this.paths)
    this.narrate(stopped ? 'Stopped the Cadre daemon.' : 'The Cadre daemon is not running.')
    if (this.formatOf(flags) !== 'table') await this.print({ data: { stopped } }, flags)
  }
}
