/** Runs the daemon in the foreground. */
import { pathToFileURL } from 'node:url'
import { boolean } from '@oclif/core/flags'
import { daemonArguments, daemonFlags } from '../../src/cli/daemon/daemon-flags.ts'
import { CadreCommand } from '../../src/cli/oclif/base-command.ts'
import { daemonEntry } from '../../src/client/daemon.ts'

export default class DaemonRun extends CadreCommand {
  static override description =
    'Run the daemon in the foreground.\n\nPrints one line with its address when it is ready; Ctrl-C stops it. This is what a service manager or a container runs.'
  static override examples = [
    { command: 'cadre daemon run', description: 'At the usual address' },
    { command: 'cadre daemon run --port 0 --verbose', description: 'At any free port, with its log on stderr' },
  ]
  static override flags = { ...daemonFlags, verbose: boolean({ description: 'Show the log on stderr as well.' }) }

  override async run(): Promise<void> {
    const { flags } = await this.parse(DaemonRun)
    const { file } = daemonEntry(this.config.root)
    // This process becomes the daemon, so that its signals and its exit code are the daemon's own.
    for (const name of ['SIGINT', 'SIGTERM'] as const) process.removeAllListeners(name)
    for (const stream of [process.stdout, process.stderr]) stream.removeAllListeners('error')
    process.argv = [process.execPath, file, ...daemonArguments(flags), ...(flags.verbose ? ['--verbose'] : [])]
    await import(pathToFileURL(file).href)
  }
}
