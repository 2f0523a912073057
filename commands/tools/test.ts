/** Makes the call of an API tool and shows what comes back. */
import { boolean, string } from '@oclif/core/flags'
import { InputReader } from '../../src/cli/input/input-reader.ts'
import { CadreCommand } from '../../src/cli/oclif/base-command.ts'
import { resolveOwn } from '../../src/cli/resources/resolve-references.ts'
import { toolTopic } from '../../src/cli/resources/topics/tools.ts'
import { ownArgument } from '../../src/cli/resources/verbs/show.ts'
import { argumentsFrom } from '../../src/cli/tools/argument-flags.ts'
import { bodyText, headerLines, statusLine } from '../../src/cli/tools/format-response.ts'
import { call } from '../../src/client/call.ts'
import { apiToolRoutes } from '../../src/contract/families/api-tools.ts'

export default class ToolsTest extends CadreCommand {
  static override description =
    "Make the call of an API tool and show what comes back.\n\nThe body of the answer goes to stdout, its status to stderr. Whatever the server answers is a result, an error status as well; the tool's own key is taken out of it."
  static override examples = [
    { command: 'cadre tools test weather --argument city=Lisbon', description: 'An argument' },
    { command: 'cadre tools test weather -a city=Lisbon -a days=3 --headers', description: 'Several, and the headers of the answer' },
    { command: 'cadre tools test tickets --arguments \'{"subject": "Hello", "tags": ["a", "b"]}\'', description: 'All of them as JSON' },
    { command: "cadre tools test weather -a city=Lisbon --json | jq '.body.temperature'", description: 'For a script' },
  ]
  static override args = { id: ownArgument(toolTopic) }
  static override flags = {
    argument: string({
      char: 'a',
      multiple: true,
      multipleNonGreedy: true,
      description: 'An argument; may be repeated, the same name for a list.',
      helpValue: '<name=value>',
    }),
    arguments: string({ description: 'All arguments as a JSON object.', helpValue: '<json|@file|->' }),
    headers: boolean({ description: 'Show the headers of the answer, too.' }),
  }

  override async run(): Promise<void> {
    const { args, flags } = await this.parse(ToolsTest)
    const fill = await argumentsFrom(flags, new InputReader())
    const connection = await this.connect(flags)
    const params = { id: await resolveOwn(connection, toolTopic, args.id) }
    const tool = await call(connection, apiToolRoutes.get, { params })
    const { data } = await call(connection, apiToolRoutes.test, { params, body: { arguments: fill(tool.data.parameters) } })
    if (this.formatOf(flags) !== 'table') return this.print({ data }, flags)
    this.narrate(statusLine(data))
    if (flags.headers) for (const line of headerLines(data)) this.narrate(line)
    const text = bodyText(data)
    if (text !== '') process.stdout.write(`${text}\n`)
  }
}
