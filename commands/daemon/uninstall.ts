import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { createService } from '../../src/cli/daemon/service-unit.ts'
import { CadreCommand } from '../../src/cli/oclif/base-command.ts'

export default class DaemonUninstall extends CadreCommand {
  static override description = 'Uninstall the user service.\n\nDeletes the service file and prints the command that stops the service.'
  static override examples = [{ command: 'cadre daemon uninstall', description: 'Delete the service file if it exists' }]

  override async run(): Promise<void> {
    const { flags } = await this.parse(DaemonUninstall)
    this.requireLocal(flags)
    const { file, links, disable } = createService({ run: join(this.config.root, 'bin', 'run.js'), home: this.paths.home })
    const installed = existsSync(file)
    for (const path of [file, ...links]) rmSync(path, { force: true })
    this.notify(installed ? `Deleted ${file}. Stop the service with:` : `${file} does not exist.`)
    if (this.getFormat(flags) !== 'table') await this.print({ data: { file, installed, disable } }, flags)
    else if (installed) process.stdout.write(`${disable}\n`)
  }
}
