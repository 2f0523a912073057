/** Deletes the file that the session's service manager runs the daemon by. */
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { serviceFor } from '../../src/cli/daemon/service-unit.ts'
import { CadreCommand } from '../../src/cli/oclif/base-command.ts'

export default class DaemonUninstall extends CadreCommand {
  static override description = 'Undo cadre daemon install.\n\nDeletes the file it wrote and prints the command that stops the service.'
  static override examples = [{ command: 'cadre daemon uninstall', description: 'Also good when nothing is installed' }]

  override async run(): Promise<void> {
    const { flags } = await this.parse(DaemonUninstall)
    const { file, links, disable } = serviceFor({
      node: process.execPath,
      run: join(this.config.root, 'bin', 'run.js'),
      home: this.paths.home,
      arguments: [],
    })
    const installed = existsSync(file)
    for (const path of [file, ...links]) rmSync(path, { force: true })
    this.narrate(installed ? `Deleted ${file}. Stop the service with:` : `There is nothing at ${file}.`)
    if (this.formatOf(flags) !== 'table') await this.print({ data: { file, installed, disable } }, flags)
    else if (installed) process.stdout.write(`${disable}\n`)
  }
}
