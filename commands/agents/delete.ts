import { agentTopic } from '../../src/cli/resources/topics/agents.ts'
import { deleteCommand } from '../../src/cli/resources/verbs/delete.ts'

export default deleteCommand(agentTopic, [{ command: "cadre agents delete 'Handbook helper'", description: 'Delete an agent by name' }])
