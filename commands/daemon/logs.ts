import { existsSync } from 'node:fs'
import { boolean, integer } from '@oclif/core/flags'
import { followLines, formatLogLine, readLastLines } from '../../src/cli/daemon/log-lines.ts'
import { CadreCommand } from '../../src/cli/oclif/base-command.ts'
import { sanitizeText } from '../../src/cli/terminal/text.ts'

export default class DaemonLogs extends CadreCommand {
  static override description = 'Show the daemon log.\n\nFormats entries for reading at a terminal; prints JSON lines otherwise.'
  static override examples = [
    { command: 'cadre daemon logs -f', description: 'Follow the log' },
    { command: 'cadre daemon logs --lines 1000 --json | jq \'select(.level == "error")\'', description: 'Find errors' },
  ]
  static override flags = {
    follow: boolean({ char: 'f', description: 'Follow new lines until Ctrl+C.' }),
    lines: integer({ char: 'n', default: 50, min: 0, description: 'Number of lines to show.' }),
    pretty: boolean({
      allowNo: true,
      description: 'Format entries for reading (default at a terminal); --no-pretty prints JSON lines.',
    }),
  }

  override async run(): Promise<void> {
    const { flags } = await this.parse(DaemonLogs)
    this.requireLocal(flags)
    const pretty = flags.pretty ?? (process.stdout.isTTY === true && !flags.json)
    const write = (line: string) =>
      process.stdout.write(`${pretty ? formatLogLine(line, process.stdout) : flags.raw ? line : sanitizeText(line)}\n`)
    const { log } = this.paths
    if (!existsSync(log) && !flags.follow) return this.notify(`No log at ${log} yet.`)
    const { lines, end } = existsSync(log) ? await readLastLines(log, flags.lines) : { lines: [], end: 0 }
    for (const line of lines) write(line)
    if (flags.follow) for await (const line of followLines(log, end)) write(line)
  }
}
