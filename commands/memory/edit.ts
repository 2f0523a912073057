import { memoryTopic } from '../../src/cli/resources/topics/memories.ts'
import { updateCommand } from '../../src/cli/resources/verbs/update.ts'

export default updateCommand(memoryTopic, [
  {
    command: "cadre memory edit mem_019a3c5e-7d2b-7c31-9a44-0c9f5d1e2b3a --content 'The user works in the Hamburg office.'",
    description: 'Correct a fact',
  },
])
