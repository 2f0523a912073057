import { retrievalTopic } from '../../src/cli/resources/topics/retrieval.ts'
import { listCommand } from '../../src/cli/resources/verbs/list.ts'

export default listCommand(retrievalTopic, [
  { command: 'cadre retrieval list --search-method hybrid', description: 'List tools that use hybrid search' },
])
