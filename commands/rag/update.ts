import { ragTopic } from '../../src/cli/resources/topics/rag.ts'
import { updateCommand } from '../../src/cli/resources/verbs/update.ts'

export default updateCommand(ragTopic, [
  { command: 'cadre rag update handbook --chunk-size 1200 --chunk-overlap 200', description: 'Index longer passages' },
])
