/** Writes the file that lets the session's service manager run the daemon. */
import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { boolean } from '@oclif/core/flags'
import { daemonArguments, daemonFlags } from '../../src/cli/daemon/daemon-flags.ts'
import { serviceFor } from '../../src/cli/daemon/service-unit.ts'
import { CadreCommand } from '../../src/cli/oclif/base-command.ts'
import { makeFolder } from '../../src/config.ts'

export default class DaemonInstall extends CadreCommand {
  static override description =
    'Let the daemon start with your session.\n\nWrites a systemd user unit on Linux or a launchd agent on macOS, and prints the command that enables it.'
  static override examples = [
    { command: 'cadre daemon install', description: 'Write the file' },
    { command: 'cadre daemon install --print', description: 'Only look at it' },
  ]
  static override flags = { ...daemonFlags, print: boolean({ description: 'Print the file instead of writing it.' }) }

  override async run(): Promise<void> {
    const { flags } = await this.parse(DaemonInstall)
    const { file, text, enable } = serviceFor({
      node: process.execPath,
      run: join(this.config.root, 'bin', 'run.js'),
      home: this.paths.home,
      arguments: daemonArguments(flags),
    })
    if (flags.print) {
      process.stdout.write(text)
      return
    }
    makeFolder(dirname(file))
    writeFileSync(file, text)
    this.narrate(`Wrote ${file}. Enable it with:`)
    if (this.formatOf(flags) === 'table') process.stdout.write(`${enable}\n`)
    else await this.print({ data: { file, enable } }, flags)
  }
}
