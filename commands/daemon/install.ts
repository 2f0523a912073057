import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { boolean } from '@oclif/core/flags'
import { daemonFlags, formatDaemonArguments } from '../../src/cli/daemon/daemon-flags.ts'
import { createService } from '../../src/cli/daemon/service-unit.ts'
import { CadreCommand } from '../../src/cli/oclif/base-command.ts'
import { ensureDirectory } from '../../src/config.ts'

export default class DaemonInstall extends CadreCommand {
  static override description =
    'Install the daemon as a user service.\n\n' +
    'Writes a systemd user unit (Linux) or a launchd agent (macOS) and prints the command that enables it.'
  static override examples = [
    { command: 'cadre daemon install', description: 'Write the service file' },
    { command: 'cadre daemon install --print', description: 'Print the service file' },
  ]
  static override flags = { ...daemonFlags, print: boolean({ description: 'Print the file instead of writing it.' }) }

  override async run(): Promise<void> {
    const { flags } = await this.parse(DaemonInstall)
    this.requireLocal(flags)
    const run = join(this.config.root, 'bin', 'run.js')
    const { file, text, enable } = createService({ run, home: this.paths.home, arguments: formatDaemonArguments(flags) })
    if (flags.print) return void process.stdout.write(text)
    ensureDirectory(dirname(file))
    writeFileSync(file, text)
    this.notify(`Wrote ${file}. Enable the service with:`)
    if (this.getFormat(flags) === 'table') process.stdout.write(`${enable}\n`)
    else await this.print({ data: { file, enable } }, flags)
  }
}
