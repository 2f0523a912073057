import { CadreCommand } from '../../src/cli/oclif/base-command.ts'
import { createIdArgument } from '../../src/cli/resources/resource-command.ts'
import { agentFlag, setPermission } from '../../src/cli/resources/set-permission.ts'
import { toolTopic } from '../../src/cli/resources/topics/tools.ts'

export default class ToolsAllow extends CadreCommand {
  static override description =
    'Let agents call a tool without confirmation.\n\n' +
    'Without --agent, this applies to all agents; only admins can do it. The tool asks again when its method, URL or definition changes.'
  static override examples = [
    { command: 'cadre tools allow create_ticket --agent Support', description: 'For one agent' },
    { command: 'cadre tools allow create_ticket', description: 'For all agents' },
  ]
  static override args = { id: createIdArgument(toolTopic) }
  static override flags = { agent: agentFlag }

  override async run(): Promise<void> {
    const { args, flags } = await this.parse(ToolsAllow)
    const data = await setPermission(await this.connect(flags), args.id, flags.agent, true)
    this.notify(`${flags.agent ?? 'Every agent'} calls ${args.id} without confirmation.`)
    await this.printUnlessTable(data, flags)
  }
}
