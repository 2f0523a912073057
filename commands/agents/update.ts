/** Changes one of the agents. */
import { agentTopic } from '../../src/cli/resources/topics/agents.ts'
import { updateCommand } from '../../src/cli/resources/verbs/update.ts'

export default updateCommand(agentTopic, [
  { command: "cadre agents update 'Handbook helper' --temperature 0.7", description: 'One field' },
  { command: "cadre agents update 'Handbook helper' --model null", description: 'Back to the default model' },
])
