import { mcpServerTopic } from '../../../src/cli/resources/topics/mcp.ts'
import { updateCommand } from '../../../src/cli/resources/verbs/update.ts'

export default updateCommand(mcpServerTopic, [
  { command: 'cadre tools servers update files --timeout-ms 120000 --memory-mb 2048', description: 'Change the limits' },
  { command: 'cadre tools servers update github --env GITHUB_TOKEN=ghp_…', description: 'Replace the environment variables' },
])
