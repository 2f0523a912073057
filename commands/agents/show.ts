/** Shows one of the agents. */
import { agentTopic } from '../../src/cli/topics/agents.ts'
import { showCommand } from '../../src/cli/verbs/show.ts'

export default showCommand(agentTopic, [{ command: "cadre agents show 'Handbook helper'", description: 'By name' }])
