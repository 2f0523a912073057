/** Shows one of the RAG tools. */
import { ragTopic } from '../../src/cli/topics/rag.ts'
import { showCommand } from '../../src/cli/verbs/show.ts'

export default showCommand(ragTopic, [{ command: 'cadre rag show handbook', description: 'By name' }])
