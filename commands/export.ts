import { boolean, string } from '@oclif/core/flags'
import { onlyFlag, parseFamilies } from '../src/cli/as-code/read-declaration.ts'
import { formatResource } from '../src/cli/as-code/resource-yaml.ts'
import { writeExport } from '../src/cli/as-code/write-export.ts'
import { CadreCommand } from '../src/cli/oclif/base-command.ts'
import { quoteShellWord } from '../src/cli/terminal/shell-quote.ts'
import { call } from '../src/client/call.ts'
import { asCodeRoutes } from '../src/contract/families/as-code.ts'

export default class Export extends CadreCommand {
  static override description =
    'Export all resources as YAML, one file per resource.\n\n' +
    'Secrets become references to environment variables (${env:NAME}); uploaded documents, conversations, usage and tokens are ' +
    'not exported. Prints to stdout without --to.'
  static override examples = [
    { command: 'cadre export --to ./cadre', description: 'Export to a folder' },
    { command: 'cadre export --to ./cadre --force && git -C ./cadre diff', description: 'Export again and review the changes' },
    { command: 'cadre export --only agents,prompt-templates', description: 'Print some families' },
  ]
  static override flags = {
    to: string({ description: 'Folder to write to; created if missing.', helpValue: '<directory>' }),
    only: onlyFlag,
    force: boolean({ description: 'Overwrite changed files and remove files of deleted resources.' }),
  }

  override async run(): Promise<void> {
    const { flags } = await this.parse(Export)
    const families = parseFamilies(flags.only)
    const { data } = await call(await this.connect(flags), asCodeRoutes.export, {})
    const resources = data.resources.filter(({ family }) => families.includes(family))
    for (const note of data.notes) this.notify(note)
    const files = await Promise.all(resources.map(async ({ file, fields }) => ({ file, text: await formatResource(fields) })))
    if (flags.to !== undefined) {
      const { written, unchanged, removed } = await writeExport(flags.to, files, { families, force: flags.force })
      this.notify(
        `${flags.to}: ${written} files written, ${unchanged} unchanged, ${removed} removed. Apply them with: cadre apply -f ` +
          `${quoteShellWord(flags.to)}`,
      )
    }
    if (this.getFormat(flags) === 'json') await this.print({ data: { ...data, resources } }, flags)
    else if (flags.to === undefined) process.stdout.write(files.map(({ file, text }) => `# ${file}\n${text}`).join('---\n'))
  }
}
