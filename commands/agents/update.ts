import { describeMemory } from '../../src/cli/ask/notes/explain-unused-memory.ts'
import { agentTopic } from '../../src/cli/resources/topics/agents.ts'
import { updateCommand } from '../../src/cli/resources/verbs/update.ts'

export default updateCommand(
  agentTopic,
  [
    { command: "cadre agents update 'Handbook helper' --temperature 0.7", description: 'Change one field' },
    { command: "cadre agents update 'Handbook helper' --add-tool wiki --remove-tool handbook", description: 'Change the tools' },
    { command: "cadre agents update 'Handbook helper' --model null", description: 'Use the default model again' },
    { command: "cadre agents update 'Handbook helper' --memory", description: 'Remember facts about users; cadre memory list shows them' },
  ],
  describeMemory,
)
