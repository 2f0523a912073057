import { string } from '@oclif/core/args'
import { boolean } from '@oclif/core/flags'
import { MCP_CLIENT_NAMES, MCP_CLIENTS, type McpClient, type McpClientName } from '../../src/cli/mcp/clients.ts'
import { describeStdioServer } from '../../src/cli/mcp/describe-server.ts'
import { CadreCommand } from '../../src/cli/oclif/base-command.ts'
import { findDaemonProcess, resolveAddress } from '../../src/client/address.ts'
import { DEFAULT_PORT } from '../../src/config.ts'
import { MCP_PATH } from '../../src/contract/mcp-path.ts'

export default class McpConfig extends CadreCommand {
  static override description =
    'Print the configuration that lets an editor or coding agent use Cadre.\n\n' +
    'Without a client, prints the format that most clients use. With --http, the client connects to the daemon and needs a token.'
  static override examples = [
    { command: 'cadre mcp config', description: 'Print the common format' },
    { command: 'cadre mcp config vscode', description: 'Print the format of VS Code' },
    { command: 'cadre mcp config --http', description: 'Print the configuration for Streamable HTTP' },
  ]
  static override args = {
    client: string({ options: MCP_CLIENT_NAMES, description: `Client: ${MCP_CLIENT_NAMES.join(', ')}.` }),
  }
  static override flags = { http: boolean({ description: 'Connect over HTTP instead of starting cadre mcp.' }) }

  override async run(): Promise<void> {
    const { args, flags } = await this.parse(McpConfig)
    const client: McpClient = MCP_CLIENTS[(args.client ?? 'cursor') as McpClientName]
    const server = flags.http
      ? client.describeHttp({ url: `${this.#resolveUrl(flags.profile)}${MCP_PATH}`, headers: { Authorization: 'Bearer <ACCESS_TOKEN>' } })
      : client.describe(describeStdioServer(this.config.root, this.paths, false, flags.profile))
    process.stdout.write(`${JSON.stringify({ [client.property]: { cadre: server } }, undefined, 2)}\n`)
    if (flags.http) this.notify('To create a token: cadre tokens create --name editor --role viewer')
  }

  #resolveUrl(profile: string | undefined): string {
    return resolveAddress(this.paths, profile).url ?? findDaemonProcess(this.paths)?.url ?? `http://127.0.0.1:${DEFAULT_PORT}`
  }
}
