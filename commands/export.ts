/** Writes every resource as YAML, one file a resource. */
import { boolean, string } from '@oclif/core/flags'
import { familiesIn, onlyFlag } from '../src/cli/as-code/read-declaration.ts'
import { resourceYaml } from '../src/cli/as-code/resource-yaml.ts'
import { writeExport } from '../src/cli/as-code/write-export.ts'
import { CadreCommand } from '../src/cli/oclif/base-command.ts'
import { quoted } from '../src/cli/terminal/shell-quote.ts'
import { call } from '../src/client/call.ts'
import { asCodeRoutes } from '../src/contract/families/as-code.ts'

export default class Export extends CadreCommand {
  static override description =
    'Export everything as YAML, one file a resource, to be kept in git and applied elsewhere.\n\nSecrets are never part of it: a file names the variable that holds one, as ${env:NAME}. Nor are documents that were sent, conversations, usage and tokens. Goes to stdout unless --to names a folder.'
  static override examples = [
    { command: 'cadre export --to ./cadre', description: 'Into a folder' },
    { command: 'cadre export --to ./cadre --force && git -C ./cadre diff', description: 'Again, and see what changed since' },
    { command: 'cadre export --only agents,prompt-templates', description: 'To look at' },
  ]
  static override flags = {
    to: string({ description: 'Folder to write; it is made when it is not there.', helpValue: '<directory>' }),
    only: onlyFlag,
    force: boolean({ description: 'Write over files that say something else, and remove those of what is gone.' }),
  }

  override async run(): Promise<void> {
    const { flags } = await this.parse(Export)
    const families = familiesIn(flags.only)
    const { data } = await call(await this.connect(flags), asCodeRoutes.export, {})
    const resources = data.resources.filter(({ family }) => families.includes(family))
    for (const note of data.notes) this.narrate(note)
    const files = await Promise.all(resources.map(async ({ file, fields }) => ({ file, text: await resourceYaml(fields) })))
    if (flags.to !== undefined) {
      const { written, unchanged, removed } = await writeExport(flags.to, files, { families, force: flags.force })
      this.narrate(
        `${flags.to}: ${written} files written, ${unchanged} unchanged, ${removed} removed. Apply them with cadre apply -f ${quoted(flags.to)}`,
      )
    }
    if (this.formatOf(flags) === 'json') await this.print({ data: { ...data, resources } }, flags)
    else if (flags.to === undefined) process.stdout.write(files.map(({ file, text }) => `# ${file}\n${text}`).join('---\n'))
  }
}
