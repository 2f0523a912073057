import { countChanges, formatOutcome, formatPlan, hasChanges } from '../src/cli/as-code/format-plan.ts'
import { declarationFlags, fetchPlan, readDeclaration } from '../src/cli/as-code/read-declaration.ts'
import { CadreCommand } from '../src/cli/oclif/base-command.ts'
import { confirm, yesFlag } from '../src/cli/terminal/confirm.ts'
import { canPrompt } from '../src/cli/terminal/prompts.ts'
import { getOutput } from '../src/cli/terminal/table.ts'
import { sanitizeLine } from '../src/cli/terminal/text.ts'
import { call } from '../src/client/call.ts'
import { asCodeRoutes } from '../src/contract/families/as-code.ts'

export default class Apply extends CadreCommand {
  static override description =
    'Create and update resources from a folder of YAML files, all or nothing.\n\n' +
    'Resources are matched by name; fields missing from a file get their defaults. Asks for confirmation at a terminal; in ' +
    'scripts, only deleting (--prune) needs --yes.'
  static override examples = [
    { command: 'cadre apply -f ./cadre', description: 'Show the plan, confirm and apply it' },
    {
      command: 'CLOUD_KEY=… cadre apply -f ./cadre --prune --yes',
      description: 'Apply in CI with a secret, and delete resources that are not in the folder',
    },
    { command: 'cadre apply -f ./cadre --only agents,prompt-templates', description: 'Apply some families only' },
  ]
  static override flags = { ...declarationFlags, yes: yesFlag }

  override async run(): Promise<void> {
    const { flags } = await this.parse(Apply)
    const body = await readDeclaration(flags)
    const connection = await this.connect(flags)
    const plan = await fetchPlan(connection, body)
    const plain = this.getFormat(flags) === 'table'
    if (plain) process.stdout.write(`${formatPlan(plan, getOutput(process.stdout)).join('\n')}\n`)
    for (const note of plan.notes) this.notify(note)
    if (!hasChanges(plan)) return plain ? undefined : this.print({ data: plan }, flags)
    const deletes = countChanges(plan, 'delete')
    // The service rejects a plan with missing secrets, so there is nothing to confirm.
    if (plan.missing.length === 0 && (deletes > 0 || canPrompt()))
      await confirm(deletes > 0 ? `Apply these changes and delete ${deletes}?` : 'Apply these changes?', flags.yes, 'Nothing was changed.')
    const { data } = await call(connection, asCodeRoutes.apply, { body: { ...body, plan: plan.plan } })
    for (const line of formatOutcome(data)) this.notify(line)
    if (!plain) return this.print({ data }, flags)
    for (const { name, secret } of data.secrets)
      process.stdout.write(`Signing secret of ${sanitizeLine(name)} (shown only once): ${secret}\n`)
  }
}
