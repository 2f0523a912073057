import { createIdArgument, ResourceCommand } from '../../src/cli/resources/resource-command.ts'
import { mcpServerTopic } from '../../src/cli/resources/topics/mcp.ts'
import { signIn } from '../../src/cli/tools/mcp/sign-in.ts'

export default class ToolsLogin extends ResourceCommand {
  static override description =
    'Sign in at an MCP server that uses OAuth.\n\nOpens a browser. The tokens are sealed in the vault of the daemon and refreshed.'
  static override examples = [{ command: 'cadre tools login tickets', description: 'Sign in at a server' }]
  static override args = { id: createIdArgument(mcpServerTopic) }

  override async run(): Promise<void> {
    const { args, flags } = await this.parse(ToolsLogin)
    const { connection, id } = await this.connectTo(mcpServerTopic, args.id, flags)
    await signIn(connection, id)
  }
}
