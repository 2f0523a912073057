/** Creates agents. */
import { agentInterview } from '../../src/cli/quickstart/agent-interview.ts'
import { agentTopic } from '../../src/cli/resources/topics/agents.ts'
import { createCommand } from '../../src/cli/resources/verbs/create.ts'

export default createCommand(
  agentTopic,
  [
    { command: 'cadre agents create', description: 'Answer a few questions' },
    {
      command: "cadre agents create --name 'Handbook helper' --system-prompt @prompt.md --tool handbook --temperature 0.2",
      description: 'An agent that is told what a file says and may use one tool',
    },
  ],
  agentInterview,
)
