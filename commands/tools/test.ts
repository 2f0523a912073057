import { STATUS_CODES } from 'node:http'
import { boolean } from '@oclif/core/flags'
import type { Static } from 'typebox'
import { InputReader } from '../../src/cli/input/input-reader.ts'
import { createIdArgument, ResourceCommand } from '../../src/cli/resources/resource-command.ts'
import { toolTopic } from '../../src/cli/resources/topics/tools.ts'
import { paint } from '../../src/cli/terminal/color.ts'
import { sanitizeLine, sanitizeText } from '../../src/cli/terminal/text.ts'
import { argumentFlags, readArguments } from '../../src/cli/tools/argument-flags.ts'
import { call } from '../../src/client/call.ts'
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
    const isMcpTool = id.startsWith(`${mcpTools.prefix}_`)
    const tool = await call(connection, isMcpTool ? mcpToolRoutes.get : apiToolRoutes.get, { params })
    const body = { arguments: fill(tool.data.parameters) }
    const { data } = await call(connection, isMcpTool ? mcpToolRoutes.test : apiToolRoutes.test, { params, body })
    if (this.getFormat(flags) !== 'table') return this.print({ data }, flags)
    if ('status' in data) {
      this.notify(formatStatus(data))
      if (flags.headers) for (const line of formatHeaders(data)) this.notify(line)
    }
    const text = 'status' in data ? formatBody(data.body ?? '') : formatBody(data.result)
    if (text !== '') process.stdout.write(`${text}\n`)
  }
}

type ApiResponse = Static<typeof apiToolRoutes.test.response>

function formatStatus({ status, latency_ms }: ApiResponse): string {
  const color = status < 300 ? 'green' : status < 400 ? 'yellow' : 'red'
  return `${paint(color, `${status} ${STATUS_CODES[status] ?? ''}`.trim())} in ${Math.round(latency_ms)} ms`
}

const formatHeaders = ({ headers }: ApiResponse): string[] =>
  Object.entries(headers).map(([name, value]) => `${paint('dim', `${sanitizeLine(name)}:`)} ${sanitizeLine(value)}`)

const formatBody = (body: unknown): string => sanitizeText(typeof body === 'string' ? body : JSON.stringify(body, null, 2))
