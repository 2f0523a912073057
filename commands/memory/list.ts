import { memoryTopic } from '../../src/cli/resources/topics/memories.ts'
import { listCommand } from '../../src/cli/resources/verbs/list.ts'

export default listCommand(memoryTopic, [
  { command: "cadre memory list --agent 'Handbook helper'", description: 'List what an agent remembers about you' },
  { command: 'cadre memory list --user-id ada', description: 'List the memories of a user, as an admin' },
])
