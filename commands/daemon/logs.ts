/** Shows the daemon's log. */
import { existsSync } from 'node:fs'
import { boolean, integer } from '@oclif/core/flags'
import { followLines, lastLines, prettyLine } from '../../src/cli/daemon/log-lines.ts'
import { CadreCommand } from '../../src/cli/oclif/base-command.ts'

export default class DaemonLogs extends CadreCommand {
  static override description = 'Show the log of the daemon.\n\nReadable at a terminal, JSON lines elsewhere and with --json.'
  static override examples = [
    { command: 'cadre daemon logs -f', description: 'Follow it' },
    { command: 'cadre daemon logs --lines 1000 --json | jq \'select(.level == "error")\'', description: 'Look for errors' },
  ]
  static override flags = {
    follow: boolean({ char: 'f', description: 'Go on with new lines until Ctrl-C.' }),
    lines: integer({ char: 'n', default: 50, min: 0, description: 'How many of the last lines.' }),
    pretty: boolean({
      allowNo: true,
      description: 'Readable lines also where there is no terminal; --no-pretty is JSON lines also at one.',
    }),
  }

  override async run(): Promise<void> {
    const { flags } = await this.parse(DaemonLogs)
    const pretty = flags.pretty ?? (process.stdout.isTTY === true && !flags.json)
    const write = (line: string) => process.stdout.write(`${pretty ? prettyLine(line, process.stdout) : line}\n`)
    const { log } = this.paths
    if (!existsSync(log) && !flags.follow) return this.narrate(`There is no log at ${log} yet.`)
    const { lines, end } = existsSync(log) ? await lastLines(log, flags.lines) : { lines: [], end: 0 }
    for (const line of lines) write(line)
    if (flags.follow) for await (const line of followLines(log, end)) write(line)
  }
}
