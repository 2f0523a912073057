import { ragTopic } from '../../src/cli/resources/topics/rag.ts'
import { listCommand } from '../../src/cli/resources/verbs/list.ts'

export default listCommand(ragTopic, [{ command: 'cadre rag list --knowledge-source Handbook', description: 'List the tools of a source' }])
