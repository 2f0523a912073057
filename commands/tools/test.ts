import { boolean } from '@oclif/core/flags'
import { InputReader } from '../../src/cli/input/input-reader.ts'
import type { GlobalFlags } from '../../src/cli/oclif/base-command.ts'
import { ResourceCommand } from '../../src/cli/resources/resource-command.ts'
import { toolTopic } from '../../src/cli/resources/topics/tools.ts'
import { createIdArgument } from '../../src/cli/resources/verbs/show.ts'
import { sanitizeText } from '../../src/cli/terminal/text.ts'
import { argumentFlags, readArguments } from '../../src/cli/tools/argument-flags.ts'
import { formatBody, formatHeaders, formatStatus } from '../../src/cli/tools/format-response.ts'
import { call } from '../../src/client/call.ts'
import type { Connection } from '../../src/client/request.ts'
import { apiToolRoutes } from '../../src/contract/families/api-tools.ts'
import { mcpToolRoutes, mcpTools } from '../../src/contract/families/mcp/mcp-tools.ts'

export default class ToolsTest extends ResourceCommand {
  static override description =
    'Call an API tool or an MCP tool and print the result.\n\n' +
    "The body goes to stdout and the status to stderr, with the tool's credentials redacted. HTTP error statuses do not change the " +
    'exit code.'
  static override examples = [
    { command: 'cadre tools test weather --argument city=Lisbon', description: 'Call a tool with an argument' },
    {
      command: 'cadre tools test weather -a city=Lisbon -a days=3 --headers',
      description: 'Pass two arguments and show the response headers',
    },
    {
      command: 'cadre tools test tickets --arguments \'{"subject": "Hello", "tags": ["a", "b"]}\'',
      description: 'Pass the arguments as JSON',
    },
    { command: "cadre tools test weather -a city=Lisbon --json | jq '.body.temperature'", description: 'Print one field of the response' },
  ]
  static override args = { id: createIdArgument(toolTopic) }
  static override flags = {
    ...argumentFlags,
    headers: boolean({ description: 'Show the response headers.' }),
  }

  override async run(): Promise<void> {
    const { args, flags } = await this.parse(ToolsTest)
    const fill = await readArguments(flags, new InputReader())
    const { connection, id } = await this.connectTo(toolTopic, args.id, flags)
    const params = { id }
    if (id.startsWith(`${mcpTools.prefix}_`)) return this.#testMcpTool(connection, params, fill, flags)
    const tool = await call(connection, apiToolRoutes.get, { params })
    const { data } = await call(connection, apiToolRoutes.test, { params, body: { arguments: fill(tool.data.parameters) } })
    if (this.getFormat(flags) !== 'table') return this.print({ data }, flags)
    this.notify(formatStatus(data))
    if (flags.headers) for (const line of formatHeaders(data)) this.notify(line)
    const text = formatBody(data)
    if (text !== '') process.stdout.write(`${text}\n`)
  }

  async #testMcpTool(
    connection: Connection,
    params: { id: string },
    fill: Awaited<ReturnType<typeof readArguments>>,
    flags: GlobalFlags,
  ): Promise<void> {
    const tool = await call(connection, mcpToolRoutes.get, { params })
    const { data } = await call(connection, mcpToolRoutes.test, { params, body: { arguments: fill(tool.data.parameters) } })
    if (this.getFormat(flags) !== 'table') return this.print({ data }, flags)
    const text = typeof data.result === 'string' ? data.result : JSON.stringify(data.result, null, 2)
    if (text !== '') process.stdout.write(`${sanitizeText(text)}\n`)
  }
}
