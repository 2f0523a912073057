import { createIdArgument, ResourceCommand } from '../../src/cli/resources/resource-command.ts'
import { mcpServerTopic } from '../../src/cli/resources/topics/mcp.ts'
import { APPROVED_COLUMNS, reviewFlags, reviewTools } from '../../src/cli/tools/mcp/approve-tools.ts'
import { call } from '../../src/client/call.ts'
import { mcpServerRoutes } from '../../src/contract/families/mcp/mcp-servers.ts'
import { mcpToolRoutes } from '../../src/contract/families/mcp/mcp-tools.ts'

export default class ToolsRefresh extends ResourceCommand {
  static override description =
    'Review what an MCP server offers now.\n\n' +
    'Shows new, changed and removed tools, and asks before they are approved. A changed tool is not called until it is approved again.'
  static override examples = [
    { command: 'cadre tools refresh files', description: 'Review the tools of a server' },
    { command: 'cadre tools refresh files --tool read_file --yes', description: 'Approve one tool in a script' },
    { command: 'cadre tools refresh files --json', description: 'Print what the server offers; approves nothing' },
  ]
  static override args = { id: createIdArgument(mcpServerTopic) }
  static override flags = reviewFlags

  override async run(): Promise<void> {
    const { args, flags } = await this.parse(ToolsRefresh)
    const { connection, id } = await this.connectTo(mcpServerTopic, args.id, flags)
    const params = { id }
    const { data: server } = await call(connection, mcpServerRoutes.get, { params })
    const { data } = await call(connection, mcpToolRoutes.discover, { params })
    if (this.getFormat(flags) !== 'table' && !flags.yes) return this.print({ data }, flags)
    const approved = await reviewTools(connection, data, { ...flags, server })
    if (approved.length > 0 || this.getFormat(flags) !== 'table') await this.print({ data: approved, columns: APPROVED_COLUMNS }, flags)
  }
}
