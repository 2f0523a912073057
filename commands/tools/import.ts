/** Makes API tools of an OpenAPI document. */
import { string } from '@oclif/core/args'
import { boolean, integer, string as text } from '@oclif/core/flags'
import { InputReader } from '../../src/cli/input/input-reader.ts'
import { CadreCommand } from '../../src/cli/oclif/base-command.ts'
import { QuietFailure } from '../../src/cli/terminal/errors.ts'
import { askCredentials, importLines, importRequest } from '../../src/cli/tools/import-openapi.ts'
import { call } from '../../src/client/call.ts'
import { apiToolRoutes } from '../../src/contract/families/api-tools.ts'

const many = { multiple: true, multipleNonGreedy: true } as const
const secret = '<secret|@file|env:NAME|->'

export default class ToolsImport extends CadreCommand {
  static override description =
    'Make API tools of an OpenAPI 3 document, one an operation.\n\nAll of them are made, or none. Operations that cannot be tools, such as those that take files, are named with the reason. Tools that change something (every method but GET) ask before each use. At a terminal you are asked for the tokens and keys that the document wants; elsewhere give them with flags, best from a file, a variable of the environment (env:NAME) or stdin (-).'
  static override examples = [
    { command: 'cadre tools import openapi.yaml --dry-run', description: 'What it would become' },
    {
      command: 'cadre tools import https://api.example.com/openapi.json --only tag:weather --bearer env:WEATHER_TOKEN',
      description: 'From an address, one tag of it',
    },
    {
      command: "cadre tools import openapi.yaml --only listPets,'POST /pets' --prefix pets_",
      description: 'Two operations, by id and by path',
    },
    {
      command: 'cadre tools import http://localhost:8000/openapi.json --allow-private-network',
      description: 'Of a server on this machine',
    },
    { command: 'cadre tools import openapi.yaml --update', description: 'Again, after the document changed' },
  ]
  static override args = {
    document: string({
      required: true,
      ignoreStdin: true,
      description: 'File or http(s) address of the document, JSON or YAML; - reads stdin.',
    }),
  }
  static override flags = {
    only: text({
      ...many,
      description: 'Only these operations: operationId, tag:name, /path or METHOD /path, with * for anything; may be repeated.',
      helpValue: '<a,b>',
    }),
    server: text({ description: 'Base address to call, instead of the one in the document.', helpValue: '<url>' }),
    'server-variable': text({
      ...many,
      description: "Value of a variable in the document's server; may be repeated.",
      helpValue: '<name=value>',
    }),
    prefix: text({ description: 'Put before the name of each tool.' }),
    bearer: text({ description: 'Token that the tools send.', helpValue: secret }),
    'api-key': text({ description: 'Key that the tools send where the document says.', helpValue: secret }),
    basic: text({ description: 'User whose name and password the tools send.', helpValue: '<user>' }),
    password: text({ description: 'Password of --basic; asked for at a terminal.', helpValue: secret }),
    credential: text({
      ...many,
      description: 'Token or key of one security scheme of the document; may be repeated.',
      helpValue: '<scheme=secret|@file|env:NAME|->',
    }),
    'timeout-ms': integer({ description: 'Longest wait for an answer, in milliseconds.', min: 100, max: 300_000 }),
    'allow-private-network': boolean({
      description: 'Let the tools, and the fetching of the document, reach the private network. Admins only.',
    }),
    'requires-confirmation': boolean({
      allowNo: true,
      description: 'Ask before each use of every tool; --no-requires-confirmation for none.',
    }),
    deprecated: boolean({ description: 'Deprecated operations and parameters, too.' }),
    update: boolean({ description: 'Bring tools of the same name and server up to date.' }),
    'dry-run': boolean({ description: 'Only show what would be done.' }),
    ask: boolean({
      default: true,
      allowNo: true,
      description: 'Ask for tokens and keys at a terminal; never with --update, which keeps those that are there.',
    }),
  }

  override async run(): Promise<void> {
    const { args, flags } = await this.parse(ToolsImport)
    const body = await importRequest(args.document, flags, new InputReader())
    const connection = await this.connect(flags)
    if (flags.ask && !flags.update && !body.dry_run && body.credentials === undefined && process.stdin.isTTY && process.stderr.isTTY) {
      const { data } = await call(connection, apiToolRoutes.import, { body: { ...body, dry_run: true } })
      body.credentials = await askCredentials(data)
    }
    const { data } = await call(connection, apiToolRoutes.import, { body })
    for (const line of importLines(data, flags['dry-run'])) this.narrate(line)
    await this.print(
      this.formatOf(flags) === 'table'
        ? { data: data.tools, columns: ['action', 'name', 'method', 'url', 'auth', 'requires_confirmation'] }
        : { data },
      flags,
    )
    if (data.tools.length === 0) throw new QuietFailure()
  }
}
