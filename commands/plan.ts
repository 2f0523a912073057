import { boolean } from '@oclif/core/flags'
import { formatPlan, hasChanges } from '../src/cli/as-code/format-plan.ts'
import { declarationFlags, fetchPlan, readDeclaration } from '../src/cli/as-code/read-declaration.ts'
import { CadreCommand } from '../src/cli/oclif/base-command.ts'
import { ReportedError } from '../src/cli/terminal/failures/command-errors.ts'
import { EXIT } from '../src/cli/terminal/failures/exit-codes.ts'
import { getOutput } from '../src/cli/terminal/table.ts'

export default class Plan extends CadreCommand {
  static override description =
    'Show what cadre apply would change, without changing anything.\n\n' +
    'Marks resources as created (+), updated (~) or deleted (-, only with --prune), and lists missing secrets.'
  static override examples = [
    { command: 'cadre plan -f ./cadre', description: 'Show the changes' },
    { command: 'cadre plan -f ./cadre --prune --check', description: 'In CI: exit with 100 if anything differs from the files' },
  ]
  static override flags = {
    ...declarationFlags,
    check: boolean({ description: 'Exit with 100 if there are changes.' }),
  }

  override async run(): Promise<void> {
    const { flags } = await this.parse(Plan)
    const body = await readDeclaration(flags)
    const plan = await fetchPlan(await this.connect(flags), body)
    if (this.getFormat(flags) === 'table') process.stdout.write(`${formatPlan(plan, getOutput(process.stdout)).join('\n')}\n`)
    else await this.print({ data: plan }, flags)
    for (const note of plan.notes) this.notify(note)
    if (flags.check && hasChanges(plan)) throw new ReportedError(EXIT.changesPlanned)
  }
}
