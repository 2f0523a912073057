/** Lists the RAG tools. */
import { ragTopic } from '../../src/cli/topics/rag.ts'
import { listCommand } from '../../src/cli/verbs/list.ts'

export default listCommand(ragTopic, [{ command: 'cadre rag list --knowledge-source Handbook', description: 'Those that read one source' }])
