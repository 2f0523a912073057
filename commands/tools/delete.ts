import { toolTopic } from '../../src/cli/resources/topics/tools.ts'
import { deleteCommand } from '../../src/cli/resources/verbs/delete.ts'

export default deleteCommand(toolTopic, [{ command: 'cadre tools delete weather', description: 'Delete a tool by name' }])
