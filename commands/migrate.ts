import { string } from '@oclif/core/flags'
import { copyStores } from '../src/cli/daemon/copy-stores.ts'
import { CadreCommand } from '../src/cli/oclif/base-command.ts'
import { UsageError } from '../src/cli/terminal/failures/command-errors.ts'
import { formatCount } from '../src/cli/terminal/format-quantity.ts'
import { ProgressDisplay } from '../src/cli/terminal/progress-bar.ts'

export default class Migrate extends CadreCommand {
  static override description =
    'Copy records, documents and vectors to servers, or back to the home.\n\n' +
    'The source is not changed. Everything is compared by count and checksum. A copy that was interrupted is continued.'
  static override examples = [
    {
      command: 'cadre migrate --to-database libsql://records.example.com --to-storage s3://bucket/cadre',
      description: 'Copy this home to servers',
    },
    { command: 'cadre migrate --to-storage s3://bucket/cadre', description: 'Copy only documents and vectors' },
    { command: 'CADRE_HOME=~/copy cadre migrate --to-database local --to-storage local', description: 'Copy from servers to a new home' },
  ]
  static override flags = {
    'to-database': string({ description: 'URL of a libSQL server for the records; local copies them to the home.', helpValue: '<url>' }),
    'to-storage': string({ description: 'URL of a bucket for documents and vectors; local copies them to the home.', helpValue: '<url>' }),
  }

  override async run(): Promise<void> {
    const { flags } = await this.parse(Migrate)
    const { 'to-database': database, 'to-storage': storage } = flags
    if (database === undefined && storage === undefined)
      throw new UsageError('Name where to copy to.', 'For example: cadre migrate --to-storage s3://bucket/prefix')
    const isTable = this.getFormat(flags) === 'table'
    const display = new ProgressDisplay(!isTable)
    try {
      const copied = await copyStores(this.config.root, { database, storage }, (progress) => display.show(progress))
      display.clear()
      if (!isTable) return this.print({ data: { ...copied } }, flags)
      this.notify(`Copied and verified ${formatCount(copied.rows, 'row')} and ${formatCount(copied.files, 'file')}.`)
      for (const line of formatNextSteps(database, storage)) this.notify(line)
    } finally {
      display.end()
    }
  }
}

function formatNextSteps(database: string | undefined, storage: string | undefined): string[] {
  const change = (name: string, url: string | undefined) =>
    url === undefined ? [] : [`cadre config ${url === 'local' ? `unset ${name}` : `set ${name} ${url}`}`]
  const commands = [...change('database-url', database), ...change('storage-url', storage)]
  return ['To use the copy:', ...commands.map((command) => `  ${command}`), ...(isServer(database) ? [VAULT_HINT] : [])]
}

const isServer = (url: string | undefined) => url !== undefined && url !== 'local'
const VAULT_HINT = 'All its daemons need the vault key of this home: CADRE_VAULT_KEY, or CADRE_VAULT_KEY_FILE with the path of vault.key.'
