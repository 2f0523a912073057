import { mcpServerTopic } from '../../../src/cli/resources/topics/mcp.ts'
import { deleteCommand } from '../../../src/cli/resources/verbs/delete.ts'

export default deleteCommand(mcpServerTopic, [
  { command: 'cadre tools servers delete files', description: 'Delete a server and its tools' },
])
