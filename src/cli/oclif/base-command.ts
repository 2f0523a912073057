/** The base class of all commands: global flags, connection, data on stdout and messages on stderr. */
import { Command } from '@oclif/core/command'
import { boolean, option, string } from '@oclif/core/flags'
import type { InferredFlags } from '@oclif/core/interfaces'
import { resolveSelectedProfile } from '../../client/address.ts'
import { connect } from '../../client/connect.ts'
import { LOCAL_PROFILE } from '../../client/profiles.ts'
import type { Connection } from '../../client/request.ts'
import { startDaemon } from '../../client/start-daemon.ts'
import { type DaemonRecord, homePaths, type Paths, readSettings } from '../../config.ts'
import { canRedraw, paint, stripControlSequences } from '../terminal/color.ts'
import { UsageError } from '../terminal/failures/command-errors.ts'
import { ProgressDisplay } from '../terminal/progress-bar.ts'
import { FORMATS, type Format, type OutputData, render } from '../terminal/render.ts'
import { wrapForStream } from '../terminal/wrap-sentences.ts'
import { nameFlags } from './name-flags.ts'
import { toUsageError } from './parse-errors.ts'

export type GlobalFlags = Partial<InferredFlags<typeof CadreCommand.baseFlags>>

const writeNotice = (line: string): void => void process.stderr.write(`${wrapForStream(stripControlSequences(line), process.stderr)}\n`)

const globalGroup = { helpGroup: 'GLOBAL' }

export abstract class CadreCommand extends Command {
  static override baseFlags = {
    json: boolean({ ...globalGroup, description: 'Print data and errors as JSON.' }),
    output: option({ options: FORMATS })({
      ...globalGroup,
      char: 'o',
      description: 'Output format (default: table, or the output setting).',
      helpValue: FORMATS.join('|'),
    }),
    profile: string({
      ...globalGroup,
      description: 'Use the service of this profile; local is the daemon of this machine.',
      helpValue: '<name>',
    }),
    raw: boolean({ ...globalGroup, description: 'Keep escape sequences and control characters in replies, text and CSV.' }),
    start: boolean({
      ...globalGroup,
      default: true,
      allowNo: true,
      description: 'Start the daemon if it is not running; --no-start fails instead.',
    }),
    color: boolean({
      ...globalGroup,
      default: true,
      allowNo: true,
      description: 'Use colors at a terminal; --no-color or NO_COLOR disables them.',
    }),
  }

  protected paths: Paths = homePaths()

  /** Main reports all errors; usage errors get their hint here, where the command and its flags are known. */
  protected override async catch(error: Error): Promise<never> {
    throw toUsageError(error, this.ctor) ?? nameFlags(error, this.ctor, this.argv)
  }

  protected notify = writeNotice
  #isQuiet = false
  #display: ProgressDisplay | undefined

  /** Shows what takes more than two seconds. Commands that show progress themselves set it to undefined. */
  protected showProgress: Connection['showProgress'] = canRedraw(process.stderr)
    ? (step) => {
        if (step) this.#display ??= new ProgressDisplay()
        else this.#display = this.#display?.end()
        if (step) this.#display?.show(step)
      }
    : undefined

  /** For --quiet: from now on only errors and waiting for the rate limit are shown. */
  protected muteNotices(): void {
    this.#isQuiet = true
    this.showProgress = undefined
    this.notify = () => undefined
  }

  /** For commands that show progress themselves: messages are printed above it. With --quiet, only errors are shown. */
  protected openDisplay(isQuiet = false): ProgressDisplay {
    const display = new ProgressDisplay(isQuiet)
    this.showProgress = undefined
    if (isQuiet) this.muteNotices()
    else this.notify = display.log
    return display
  }

  protected connect(flags: GlobalFlags): Promise<Connection> {
    const { profile, start } = flags
    const { paths, notify, showProgress } = this
    const announceWait = this.#isQuiet ? writeNotice : undefined
    return connect({ paths, profile, start: start !== false, root: this.config.root, notify, announceWait, showProgress })
  }

  protected startDaemon(options: string[]): Promise<DaemonRecord> {
    const { paths, notify, showProgress } = this
    return startDaemon({ paths, root: this.config.root, notify, showProgress, options })
  }

  /** For commands of the local daemon: rejects --profile, and reports that the selected profile is ignored. */
  protected requireLocal({ profile }: GlobalFlags): void {
    if (profile === LOCAL_PROFILE) return
    const command = `cadre ${this.id?.replaceAll(':', ' ')}`
    if (profile !== undefined)
      throw new UsageError(
        `${command} manages the daemon of this machine and cannot be used with a profile.`,
        `Run it without --profile on the machine of the service.`,
      )
    const selected = resolveSelectedProfile(this.paths)
    if (selected !== undefined && selected !== LOCAL_PROFILE)
      this.notify(`This is about the daemon of this machine. Other commands use the profile "${selected}".`)
  }

  protected getFormat(flags: GlobalFlags): Format {
    if (flags.json) return 'json'
    return flags.output ?? readSettings(this.paths).output ?? 'table'
  }

  /** For commands whose messages already say at a terminal what the data says. */
  protected async printUnlessTable(data: OutputData['data'], flags: GlobalFlags): Promise<void> {
    if (this.getFormat(flags) !== 'table') await this.print({ data }, flags)
  }

  protected async print(shown: OutputData, flags: GlobalFlags): Promise<void> {
    const { text, hidden } = await render(shown, this.getFormat(flags), { raw: flags.raw === true })
    process.stdout.write(`${text}\n`)
    if (hidden.length === 0) return
    const columns = hidden.map((column) => (column === 'ID' ? 'ID (use names)' : column)).join(', ')
    this.notify(paint('dim', `Columns not shown: ${columns}. Use a wider terminal or --output json to see all.`))
  }
}
