/** What every command shares: the global flags, the connection to the service, data to stdout and narration to stderr. */
import { Command } from '@oclif/core/command'
import { boolean, option } from '@oclif/core/flags'
import { connect } from '../../client/daemon.ts'
import type { Connection } from '../../client/request.ts'
import { homePaths, type Paths, readSettings } from '../../config.ts'
import { paint, withoutSteering } from '../terminal/color.ts'
import { FORMATS, type Format, render, type Shown } from '../terminal/render.ts'
import { wrapForStream } from '../terminal/wrap-sentences.ts'
import { toUsageError } from './parse-errors.ts'

export interface GlobalFlags {
  json?: boolean
  output?: Format | undefined
  start?: boolean
}

const globalGroup = { helpGroup: 'GLOBAL' }

export abstract class CadreCommand extends Command {
  static override baseFlags = {
    json: boolean({ ...globalGroup, description: 'Print data, and errors, as JSON.' }),
    output: option({ options: FORMATS })({
      ...globalGroup,
      char: 'o',
      description: 'How data is printed; a table unless cadre config set output says otherwise.',
      helpValue: FORMATS.join('|'),
    }),
    start: boolean({
      ...globalGroup,
      default: true,
      allowNo: true,
      description: 'Start the daemon when none is running; --no-start refuses instead.',
    }),
    color: boolean({
      ...globalGroup,
      default: true,
      allowNo: true,
      description: 'Colours at a terminal; --no-color, or NO_COLOR in the environment, is none.',
    }),
  }

  protected paths: Paths = homePaths()

  /** Errors are reported in one place, by the entry; only here it is known which command was called in a way that oclif cannot take. */
  protected override async catch(error: Error): Promise<never> {
    throw toUsageError(error, this.ctor) ?? error
  }

  protected narrate = (line: string): void => {
    process.stderr.write(`${wrapForStream(withoutSteering(line), process.stderr)}\n`)
  }

  protected connect(flags: GlobalFlags): Promise<Connection> {
    return connect({ paths: this.paths, start: flags.start !== false, root: this.config.root, narrate: this.narrate })
  }

  protected formatOf(flags: GlobalFlags): Format {
    if (flags.json) return 'json'
    return flags.output ?? readSettings(this.paths).output ?? 'table'
  }

  protected async print(shown: Shown, flags: GlobalFlags): Promise<void> {
    const { text, hidden } = await render(shown, this.formatOf(flags))
    process.stdout.write(`${text}\n`)
    if (hidden.length === 0) return
    const columns = hidden.map((column) => (column === 'ID' ? 'ID (use names)' : column)).join(', ')
    this.narrate(paint('dim', `No room here for ${columns}: a wider terminal or --output json shows all.`))
  }
}
