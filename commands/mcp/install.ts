import { isAbsolute, resolve } from 'node:path'
import { string } from '@oclif/core/args'
import { boolean } from '@oclif/core/flags'
import { MCP_CLIENT_NAMES, MCP_CLIENTS, type McpClient, type McpClientName } from '../../src/cli/mcp/clients.ts'
import { readConfigurationFile, replaceConfigurationFile } from '../../src/cli/mcp/configuration-file.ts'
import { describeStdioServer } from '../../src/cli/mcp/describe-server.ts'
import { editConfiguration } from '../../src/cli/mcp/edit-configuration.ts'
import { CadreCommand } from '../../src/cli/oclif/base-command.ts'
import { paint } from '../../src/cli/terminal/color.ts'
import { confirm, yesFlag } from '../../src/cli/terminal/confirm.ts'
import { diffLines } from '../../src/cli/terminal/diff-lines.ts'
import { UsageError } from '../../src/cli/terminal/failures/command-errors.ts'
import { sanitizeText } from '../../src/cli/terminal/text.ts'

/** Unchanged lines shown around a change. */
const CONTEXT_LINES = 2

export default class McpInstall extends CadreCommand {
  static override description =
    'Add Cadre to the configuration of an editor or coding agent.\n\n' +
    'Shows the change and asks before it is made. Other settings and comments are kept.'
  static override examples = [
    { command: 'cadre mcp install claude', description: 'Use Cadre in Claude Code' },
    { command: 'cadre mcp install vscode --project', description: 'Use Cadre in this project in VS Code' },
    { command: 'cadre mcp install cursor --dry-run', description: 'Only show the change' },
  ]
  static override args = {
    client: string({ required: true, options: MCP_CLIENT_NAMES, description: `Client: ${MCP_CLIENT_NAMES.join(', ')}.` }),
  }
  static override flags = {
    project: boolean({ description: 'Change the configuration of the project in the current folder instead of the user.' }),
    'dry-run': boolean({ description: 'Show the change without making it.' }),
    yes: yesFlag,
  }

  override async run(): Promise<void> {
    const { args, flags } = await this.parse(McpInstall)
    const client: McpClient = MCP_CLIENTS[args.client as McpClientName]
    const file = this.#resolveFile(client, flags.project)
    const server = describeStdioServer(this.config.root, this.paths, flags.project, flags.profile)
    if (flags.project && isAbsolute(server.command))
      this.notify('cadre is not on your PATH, so the entry contains paths of this machine and works only here.')
    const before = readConfigurationFile(file)
    const after = editConfiguration(file, before, client.property, 'cadre', client.describe(server))
    const isTable = this.getFormat(flags) === 'table'
    const print = (changed: boolean) => this.print({ data: { client: args.client, file, changed } }, flags)
    if (before === after) return isTable ? this.notify(`${client.title} already uses Cadre (${file}).`) : print(false)
    process.stderr.write(`${sanitizeText(`${file}:\n`)}${formatChange(before, after)}\n`)
    if (flags['dry-run']) return isTable ? undefined : print(false)
    await confirm('Make this change?', flags.yes, 'Nothing was changed.')
    replaceConfigurationFile(file, before, after)
    if (!isTable) return print(true)
    this.notify(`${client.title} can use Cadre now. ${client.note}`)
  }

  #resolveFile({ title, projectFile, getUserFile }: McpClient, isProject: boolean): string {
    if (!isProject) return getUserFile()
    if (projectFile === undefined) throw new UsageError(`${title} has no configuration for projects.`, 'Omit --project.')
    return resolve(projectFile)
  }
}

function formatChange(before: string, after: string): string {
  const lines = diffLines(before.replace(/\n$/, ''), after.replace(/\n$/, ''))
  const isNear = (at: number) => lines.slice(Math.max(0, at - CONTEXT_LINES), at + CONTEXT_LINES + 1).some(({ sign }) => sign !== ' ')
  const shown = lines.flatMap((line, at) => (isNear(at) ? [line] : lines[at - 1] && isNear(at - 1) ? [undefined] : []))
  const colors = { '+': 'green', '-': 'red', ' ': 'dim' } as const
  return shown
    .map((line) => (line ? paint(colors[line.sign], `  ${line.sign} ${sanitizeText(line.text)}`, process.stderr) : '    …'))
    .join('\n')
}
