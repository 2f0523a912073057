import { mcpServerTopic } from '../../../src/cli/resources/topics/mcp.ts'
import { showCommand } from '../../../src/cli/resources/verbs/show.ts'

export default showCommand(mcpServerTopic, [
  { command: 'cadre tools servers show files', description: 'Show a server; secrets are never shown' },
])
