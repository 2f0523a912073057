/** Looks for what is wrong and says what mends it. */

import type { Check } from '../src/cli/doctor/check.ts'
import { checkDisk, checkEmbedding, checkHome, checkNode, checkService } from '../src/cli/doctor/system-checks.ts'
import { CadreCommand } from '../src/cli/oclif/base-command.ts'
import { paint } from '../src/cli/terminal/color.ts'
import { QuietFailure } from '../src/cli/terminal/errors.ts'
import { asTyped } from '../src/cli/terminal/invocation.ts'
import { printable } from '../src/cli/terminal/text.ts'
import { forStream } from '../src/cli/terminal/wrap-sentences.ts'

const MARKS = { good: ['green', '✓'], warning: ['yellow', '!'], broken: ['red', '✗'] } as const
/** Columns before what was found. */
const MARGIN = 12

export default class Doctor extends CadreCommand {
  static override description =
    'Look for what is wrong, and say what mends it.\n\nLooks at Node, the home, the disk, the embedded model, the daemon, its version and stores, the token and the vault, then at models, knowledge sources and webhooks. Starts nothing, and calls no provider: cadre models test does. Exits 1 when something is broken.'
  static override examples = [
    { command: 'cadre doctor', description: 'For people' },
    { command: 'cadre doctor --json | jq \'.[] | select(.state != "good")\'', description: 'For scripts' },
  ]

  override async run(): Promise<void> {
    const { flags } = await this.parse(Doctor)
    const checks = [
      checkNode(),
      checkHome(this.paths),
      checkDisk(this.paths),
      checkEmbedding(this.config.root),
      ...(await checkService(this.paths)),
    ]
    if (this.formatOf(flags) === 'table') for (const check of checks) process.stdout.write(`${line(check)}\n`)
    else await this.print({ data: checks.map((check) => ({ ...check })) }, flags)
    if (checks.some(({ state }) => state === 'broken')) throw new QuietFailure()
  }
}

/** What was found stands in a column of its own, also where it takes several lines. */
function line({ name, state, found, fix }: Check): string {
  const [color, mark] = MARKS[state]
  const text = `${paint(color, mark, process.stdout)} ${name.padEnd(9)} ${printable(asTyped(found))}`
  const said = forStream(text, process.stdout, MARGIN)
  if (!fix) return said
  return `${said}\n${forStream(`${' '.repeat(MARGIN)}${paint('bold', 'Fix:', process.stdout)} ${printable(asTyped(fix))}`, process.stdout)}`
}
