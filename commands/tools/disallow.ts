import { CadreCommand } from '../../src/cli/oclif/base-command.ts'
import { createIdArgument } from '../../src/cli/resources/resource-command.ts'
import { agentFlag, setPermission } from '../../src/cli/resources/set-permission.ts'
import { toolTopic } from '../../src/cli/resources/topics/tools.ts'

export default class ToolsDisallow extends CadreCommand {
  static override description =
    'Make a tool ask for confirmation before each call.\n\nWith --agent, revokes what was allowed for this agent only.'
  static override examples = [
    { command: 'cadre tools disallow create_ticket --agent Support', description: 'For one agent' },
    { command: 'cadre tools disallow create_ticket', description: 'For all agents without a permission of their own' },
  ]
  static override args = { id: createIdArgument(toolTopic) }
  static override flags = { agent: agentFlag }

  override async run(): Promise<void> {
    const { args, flags } = await this.parse(ToolsDisallow)
    const data = await setPermission(await this.connect(flags), args.id, flags.agent, false)
    this.notify(`${flags.agent ?? 'Every agent'} asks before it calls ${args.id}.`)
    await this.printUnlessTable(data, flags)
  }
}
