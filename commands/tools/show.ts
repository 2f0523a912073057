import { toolTopic } from '../../src/cli/resources/topics/tools.ts'
import { showCommand } from '../../src/cli/resources/verbs/show.ts'

export default showCommand(toolTopic, [{ command: 'cadre tools show weather', description: 'Show a tool; secrets are never shown' }])
