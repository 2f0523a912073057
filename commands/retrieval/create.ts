import { retrievalTopic } from '../../src/cli/resources/topics/retrieval.ts'
import { createCommand } from '../../src/cli/resources/verbs/create.ts'

export default createCommand(retrievalTopic, [
  {
    command: 'cadre retrieval create --name find --knowledge-source Handbook,Manual --search-method hybrid',
    description: 'Create a tool that searches two sources',
  },
])
