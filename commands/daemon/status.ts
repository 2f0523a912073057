/** Says whether the daemon is running, without starting it. */
import { CadreCommand } from '../../src/cli/oclif/base-command.ts'
import { EXIT, QuietFailure } from '../../src/cli/terminal/errors.ts'
import { livingDaemon } from '../../src/client/address.ts'
import { health } from '../../src/client/daemon.ts'
import { version } from '../../src/version.ts'

export default class DaemonStatus extends CadreCommand {
  static override description = 'Say whether the daemon of this home is running.\n\nNever starts it. Exits 5 when it is not running.'
  static override examples = [
    { command: 'cadre daemon status', description: 'For people' },
    { command: 'cadre daemon status --json', description: 'For scripts' },
  ]

  override async run(): Promise<void> {
    const { flags } = await this.parse(DaemonStatus)
    const record = livingDaemon(this.paths)
    const found = record && (await health(record.url))
    if (!record || !found) {
      if (this.formatOf(flags) !== 'table') await this.print({ data: { running: false, home: this.paths.home } }, flags)
      this.narrate(
        record
          ? `Process ${record.pid} does not answer at ${record.url}; cadre doctor tells more.`
          : 'The Cadre daemon is not running; cadre daemon start starts it.',
      )
      throw new QuietFailure(EXIT.unreachable)
    }
    const { pid, url, started_at } = record
    await this.print(
      { data: { running: true, health: found.getStatus, url, pid, version: found.version, started_at, home: this.paths.home } },
      flags,
    )
    if (found.version !== version) this.narrate(`This command is version ${version}; cadre daemon restart brings both to the same version.`)
  }
}
