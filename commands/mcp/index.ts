import { readLines, StdioBridge } from '../../src/cli/mcp/stdio-bridge.ts'
import { CadreCommand } from '../../src/cli/oclif/base-command.ts'

export default class Mcp extends CadreCommand {
  static override description =
    'Serve your documents, agents and tools to an MCP client over stdin and stdout.\n\n' +
    'Editors and coding agents start this command themselves. The daemon also serves MCP over HTTP, at /mcp.'
  static override examples = [
    { command: 'cadre mcp install claude', description: 'Let Claude Code start it' },
    { command: 'cadre mcp config', description: 'Print the configuration for other clients' },
  ]

  override async run(): Promise<void> {
    const { flags } = await this.parse(Mcp)
    if (process.stdin.isTTY) this.notify('Waiting for an MCP client on stdin. To set one up: cadre mcp install CLIENT')
    const bridge = new StdioBridge({ connect: () => this.connect(flags), write: (line) => process.stdout.write(line) })
    await bridge.serve(readLines(process.stdin))
  }
}
