import { toolTopic } from '../../src/cli/resources/topics/tools.ts'
import { listCommand } from '../../src/cli/resources/verbs/list.ts'

export default listCommand(toolTopic, [{ command: 'cadre tools list --method GET', description: 'List tools that only read' }])
