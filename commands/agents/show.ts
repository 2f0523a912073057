import { agentTopic } from '../../src/cli/resources/topics/agents.ts'
import { showCommand } from '../../src/cli/resources/verbs/show.ts'

export default showCommand(agentTopic, [{ command: "cadre agents show 'Handbook helper'", description: 'Show an agent by name' }])
