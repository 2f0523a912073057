import { string } from '@oclif/core/args'
import { InputReader } from '../../src/cli/input/input-reader.ts'
import { CadreCommand } from '../../src/cli/oclif/base-command.ts'
import { hasResource } from '../../src/cli/resources/resolve-references.ts'
import { mcpServerTopic } from '../../src/cli/resources/topics/mcp.ts'
import { UsageError } from '../../src/cli/terminal/failures/command-errors.ts'
import { canPrompt } from '../../src/cli/terminal/prompts.ts'
import { APPROVED_COLUMNS, reviewFlags, reviewTools } from '../../src/cli/tools/mcp/approve-tools.ts'
import { buildServer, serverFlags } from '../../src/cli/tools/mcp/build-server.ts'
import { signIn } from '../../src/cli/tools/mcp/sign-in.ts'
import { call } from '../../src/client/call.ts'
import { mcpServerRoutes } from '../../src/contract/families/mcp/mcp-servers.ts'
import { mcpToolRoutes } from '../../src/contract/families/mcp/mcp-tools.ts'

export default class ToolsAddMcp extends CadreCommand {
  static override description =
    'Add the tools of an MCP server.\n\n' +
    'The server is a command, which the daemon runs, or a URL. Shows the tools with their descriptions and asks before they are ' +
    'approved; agents then ask before each call.'
  static override examples = [
    {
      command: 'cadre tools add-mcp files -- npx -y @modelcontextprotocol/server-filesystem ~/notes',
      description: 'Run a command; everything after -- belongs to it',
    },
    { command: 'cadre tools add-mcp github --env GITHUB_TOKEN -- github-mcp-server stdio', description: 'Pass an environment variable' },
    { command: 'cadre tools add-mcp tickets --url https://mcp.example.com/mcp --oauth', description: 'Use a URL and sign in' },
    {
      command: 'cadre tools add-mcp files --tool read_file,list_directory --yes -- files-server',
      description: 'Approve two tools in a script',
    },
  ]
  static override args = {
    name: string({ required: true, ignoreStdin: true, description: 'Name of the server. The names of its tools begin with it.' }),
    command: string({ ignoreStdin: true, multiple: true, description: 'Command and its arguments, after --.' }),
  }
  static override flags = {
    ...serverFlags,
    ...reviewFlags,
  }

  override async run(): Promise<void> {
    const { args, flags } = await this.parse(ToolsAddMcp)
    if (!flags.yes && !canPrompt())
      throw new UsageError('The tools must be approved, but there is no terminal to ask at.', 'To approve them, add --yes.')
    const body = await buildServer(args.name, args.command ?? [], flags, new InputReader())
    const connection = await this.connect(flags)
    if (await hasResource(connection, mcpServerTopic, args.name))
      throw new UsageError(`There is already an MCP server "${args.name}".`, `To see what it offers now: cadre tools refresh ${args.name}`)
    const { data: server } = await call(connection, mcpServerRoutes.create, { body })
    const params = { id: server.id }
    try {
      if (server.auth.type === 'oauth') await signIn(connection, server.id)
      const { data } = await call(connection, mcpToolRoutes.discover, { params })
      const approved = await reviewTools(connection, data, { ...flags, server })
      await this.print({ data: approved, columns: APPROVED_COLUMNS }, flags)
    } catch (error) {
      // So that the command can be repeated.
      await call(connection, mcpServerRoutes.remove, { params, query: { force: true } })
      throw error
    }
    this.notify(`Added the MCP server ${server.name}. Give its tools to an agent: cadre agents update NAME --add-tool TOOL`)
  }
}
