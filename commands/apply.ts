/** Makes everything what a folder of YAML files says. */

import { changesAnything, count, doneLines, planLines } from '../src/cli/as-code/format-plan.ts'
import { declaration, declaringFlags, planned } from '../src/cli/as-code/read-declaration.ts'
import { CadreCommand } from '../src/cli/oclif/base-command.ts'
import { yesFlag } from '../src/cli/resources/verbs/delete.ts'
import { confirm } from '../src/cli/terminal/confirm.ts'
import { canAsk } from '../src/cli/terminal/prompts.ts'
import { paperFor } from '../src/cli/terminal/table.ts'
import { call } from '../src/client/call.ts'
import { asCodeRoutes } from '../src/contract/families/as-code.ts'

export default class Apply extends CadreCommand {
  static override description =
    'Make everything what a folder of YAML files says: all of it, or nothing where something fails.\n\nShows the plan and asks first at a terminal; elsewhere it goes ahead, and only deleting (--prune) needs --yes. Resources are found again by their names, fields that a file does not hold get their defaults, and what is as the files say is not touched. A secret is read from the variable that its file names (${env:NAME}); where that is not set, the one that is there stays.'
  static override examples = [
    { command: 'cadre apply -f ./cadre', description: 'After looking at the plan' },
    { command: 'CLOUD_KEY=… cadre apply -f ./cadre --prune --yes', description: 'In CI: also delete what is no longer in git' },
    { command: 'cadre apply -f ./cadre --only agents,prompt-templates', description: 'Only some families' },
  ]
  static override flags = { ...declaringFlags, yes: yesFlag }

  override async run(): Promise<void> {
    const { flags } = await this.parse(Apply)
    const body = await declaration(flags)
    const connection = await this.connect(flags)
    const plan = await planned(connection, body)
    const plain = this.formatOf(flags) === 'table'
    if (plain) process.stdout.write(`${planLines(plan, paperFor(process.stdout)).join('\n')}\n`)
    for (const note of plan.notes) this.narrate(note)
    if (!changesAnything(plan)) return plain ? undefined : this.print({ data: plan }, flags)
    const deletes = count(plan, 'delete')
    // Without a secret that it needs it is refused in any case.
    if (plan.missing.length === 0 && (deletes > 0 || canAsk()))
      await confirm(deletes > 0 ? `Apply this, and delete ${deletes}?` : 'Apply this?', flags.yes, 'Nothing was changed.')
    const { data } = await call(connection, asCodeRoutes.apply, { body: { ...body, plan: plan.plan } })
    for (const line of doneLines(data)) this.narrate(line)
    if (!plain) return this.print({ data }, flags)
    for (const { name, secret } of data.secrets) process.stdout.write(`Signing secret of ${name}, shown only now: ${secret}\n`)
  }
}
