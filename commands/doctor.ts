import type { Check } from '../src/cli/doctor/check.ts'
import { checkDisk, checkEmbedding, checkHome, checkNode, checkService } from '../src/cli/doctor/system-checks.ts'
import { CadreCommand } from '../src/cli/oclif/base-command.ts'
import { paint } from '../src/cli/terminal/color.ts'
import { ReportedError } from '../src/cli/terminal/failures/command-errors.ts'
import { rewriteCommands } from '../src/cli/terminal/invocation.ts'
import { sanitizeText } from '../src/cli/terminal/text.ts'
import { wrapForStream } from '../src/cli/terminal/wrap-sentences.ts'
import { resolveAddress } from '../src/client/address.ts'

const MARKS = { good: ['green', '✓'], warning: ['yellow', '!'], broken: ['red', '✗'] } as const
/** Columns before the finding. */
const MARGIN = 12

export default class Doctor extends CadreCommand {
  static override description =
    'Diagnose problems and suggest fixes.\n\n' +
    'Checks the installation, the daemon, models, knowledge sources and webhooks without starting the daemon or calling ' +
    'providers. Exits with 1 if a check fails.'
  static override examples = [
    { command: 'cadre doctor', description: 'Check everything' },
    { command: 'cadre doctor --json | jq \'.[] | select(.state != "good")\'', description: 'List problems as JSON' },
  ]

  override async run(): Promise<void> {
    const { flags } = await this.parse(Doctor)
    const checks = [
      checkNode(),
      checkHome(this.paths),
      checkDisk(this.paths),
      checkEmbedding(this.config.root),
      ...(await checkService(this.paths, resolveAddress(this.paths, flags.profile), this.config.root)),
    ]
    if (this.getFormat(flags) === 'table') for (const check of checks) process.stdout.write(`${formatCheck(check)}\n`)
    else await this.print({ data: checks.map((check) => ({ ...check })) }, flags)
    if (checks.some(({ state }) => state === 'broken')) throw new ReportedError()
  }
}

/** Indents continuation lines to the column of the finding. */
function formatCheck({ name, state, found, fix }: Check): string {
  const [color, mark] = MARKS[state]
  const text = `${paint(color, mark, process.stdout)} ${name.padEnd(9)} ${sanitizeText(rewriteCommands(found))}`
  const finding = wrapForStream(text, process.stdout, MARGIN)
  if (!fix) return finding
  const advice = `${' '.repeat(MARGIN)}${paint('bold', 'Fix:', process.stdout)} ${sanitizeText(rewriteCommands(fix))}`
  return `${finding}\n${wrapForStream(advice, process.stdout)}`
}
