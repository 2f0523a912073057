/** Lists the agents. */
import { agentTopic } from '../../src/cli/resources/topics/agents.ts'
import { listCommand } from '../../src/cli/resources/verbs/list.ts'

export default listCommand(agentTopic, [
  { command: 'cadre agents list', description: 'The newest 20 agents' },
  { command: 'cadre agents list --model llama --sort name --order asc', description: 'Those that use one model, by name' },
])
