import { agentTopic } from '../../src/cli/resources/topics/agents.ts'
import { listCommand } from '../../src/cli/resources/verbs/list.ts'

export default listCommand(agentTopic, [
  { command: 'cadre agents list', description: 'List the newest 20 agents' },
  { command: 'cadre agents list --model llama --sort name --order asc', description: 'List the agents that use a model, sorted by name' },
])
