import { pathToFileURL } from 'node:url'
import { boolean } from '@oclif/core/flags'
import { daemonFlags, formatDaemonArguments } from '../../src/cli/daemon/daemon-flags.ts'
import { CadreCommand } from '../../src/cli/oclif/base-command.ts'
import { getDaemonEntry } from '../../src/client/start-daemon.ts'

export default class DaemonRun extends CadreCommand {
  static override description =
    'Run the daemon in the foreground, for service managers and containers.\n\nPrints its address when ready. Ctrl+C stops it.'
  static override examples = [
    { command: 'cadre daemon run', description: 'Run on the default port' },
    { command: 'cadre daemon run --port 0 --verbose', description: 'Run on a free port and log to stderr' },
  ]
  static override flags = { ...daemonFlags, verbose: boolean({ description: 'Write the log to stderr too.' }) }

  override async run(): Promise<void> {
    const { flags } = await this.parse(DaemonRun)
    this.requireLocal(flags)
    const { file } = getDaemonEntry(this.config.root)
    // This process becomes the daemon: it handles signals and sets the exit code itself.
    for (const name of ['SIGINT', 'SIGTERM'] as const) process.removeAllListeners(name)
    for (const stream of [process.stdout, process.stderr]) stream.removeAllListeners('error')
    process.argv = [process.execPath, file, '--foreground', ...formatDaemonArguments(flags), ...(flags.verbose ? ['--verbose'] : [])]
    await import(pathToFileURL(file).href)
  }
}
