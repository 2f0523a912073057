import { ragTopic } from '../../src/cli/resources/topics/rag.ts'
import { createCommand } from '../../src/cli/resources/verbs/create.ts'

export default createCommand(ragTopic, [
  { command: 'cadre rag create --name handbook --knowledge-source Handbook --top-k 8', description: 'Create a tool for a source' },
])
