import { mcpServerTopic } from '../../../src/cli/resources/topics/mcp.ts'
import { listCommand } from '../../../src/cli/resources/verbs/list.ts'

export default listCommand(mcpServerTopic, [{ command: 'cadre tools servers list', description: 'List MCP servers' }])
