import { string } from '@oclif/core/args'
import { boolean } from '@oclif/core/flags'
import { InputReader } from '../../src/cli/input/input-reader.ts'
import { CadreCommand } from '../../src/cli/oclif/base-command.ts'
import { ReportedError } from '../../src/cli/terminal/failures/command-errors.ts'
import { buildImportRequest, formatImport, importFlags, promptForCredentials } from '../../src/cli/tools/import-openapi.ts'
import { call } from '../../src/client/call.ts'
import { apiToolRoutes } from '../../src/contract/families/api-tools.ts'

export default class ToolsImport extends CadreCommand {
  static override description =
    'Import API tools from an OpenAPI 3 document, one per operation.\n\n' +
    'Imports all supported operations or, on an error, none; unsupported ones are listed. Tools with a method other than GET need ' +
    'confirmation before each call.'
  static override examples = [
    { command: 'cadre tools import openapi.yaml --dry-run', description: 'Preview the import' },
    {
      command: 'cadre tools import https://api.example.com/openapi.json --only tag:weather --bearer env:WEATHER_TOKEN',
      description: 'Import the operations of one tag from a URL',
    },
    {
      command: "cadre tools import openapi.yaml --only listPets,'POST /pets' --prefix pets_",
      description: 'Import two operations, by ID and by path',
    },
    {
      command: 'cadre tools import http://localhost:8000/openapi.json --allow-private-network',
      description: 'Import from a server on this machine',
    },
    { command: 'cadre tools import openapi.yaml --update', description: 'Update the tools after the document has changed' },
  ]
  static override args = {
    document: string({
      required: true,
      ignoreStdin: true,
      description: 'File or URL of the document (JSON or YAML), or - for stdin.',
    }),
  }
  static override flags = {
    ...importFlags,
    ask: boolean({
      default: true,
      allowNo: true,
      description: 'Prompt for missing credentials; ignored with --update, which keeps the existing ones.',
    }),
  }

  override async run(): Promise<void> {
    const { args, flags } = await this.parse(ToolsImport)
    const body = await buildImportRequest(args.document, flags, new InputReader())
    const connection = await this.connect(flags)
    if (flags.ask && !flags.update && !body.dry_run && body.credentials === undefined && process.stdin.isTTY && process.stderr.isTTY) {
      const { data } = await call(connection, apiToolRoutes.import, { body: { ...body, dry_run: true } })
      body.credentials = await promptForCredentials(data)
    }
    const { data } = await call(connection, apiToolRoutes.import, { body })
    for (const line of formatImport(data, flags['dry-run'])) this.notify(line)
    await this.print(
      this.getFormat(flags) === 'table'
        ? { data: data.tools, columns: ['action', 'name', 'method', 'url', 'auth', 'requires_confirmation'] }
        : { data },
      flags,
    )
    if (data.tools.length === 0) throw new ReportedError()
  }
}
