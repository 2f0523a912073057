import { describeMemory } from '../../src/cli/ask/notes/explain-unused-memory.ts'
import { agentInterview } from '../../src/cli/quickstart/agent-interview.ts'
import { agentTopic } from '../../src/cli/resources/topics/agents.ts'
import { createCommand } from '../../src/cli/resources/verbs/create.ts'

export default createCommand(
  agentTopic,
  [
    { command: 'cadre agents create', description: 'Create an agent interactively' },
    {
      command: "cadre agents create --name 'Handbook helper' --system-prompt @prompt.md --tool handbook --temperature 0.2",
      description: 'Create an agent with instructions from a file and one tool',
    },
  ],
  { interview: agentInterview, describeEffect: describeMemory },
)
