/** Shows what `cadre apply` would do. */
import { boolean } from '@oclif/core/flags'
import { changesAnything, planLines } from '../src/cli/as-code/format-plan.ts'
import { declaration, declaringFlags, planned } from '../src/cli/as-code/read-declaration.ts'
import { CadreCommand } from '../src/cli/oclif/base-command.ts'
import { EXIT, QuietFailure } from '../src/cli/terminal/errors.ts'
import { paperFor } from '../src/cli/terminal/table.ts'

export default class Plan extends CadreCommand {
  static override description =
    'Show what applying a folder of YAML files would change, and change nothing.\n\n+ is created, ~ changed, - deleted (only with --prune). Secrets are not shown; those that are needed and not set are named.'
  static override examples = [
    { command: 'cadre plan -f ./cadre', description: 'What would change' },
    { command: 'cadre plan -f ./cadre --prune --check', description: 'In CI: exits with 100 when something is other than the files say' },
  ]
  static override flags = {
    ...declaringFlags,
    check: boolean({ description: 'Exit with 100 when there is something to change.' }),
  }

  override async run(): Promise<void> {
    const { flags } = await this.parse(Plan)
    const body = await declaration(flags)
    const plan = await planned(await this.connect(flags), body)
    if (this.formatOf(flags) === 'table') process.stdout.write(`${planLines(plan, paperFor(process.stdout)).join('\n')}\n`)
    else await this.print({ data: plan }, flags)
    for (const note of plan.notes) this.narrate(note)
    if (flags.check && changesAnything(plan)) throw new QuietFailure(EXIT.changesPlanned)
  }
}
