import { ragTopic } from '../../src/cli/resources/topics/rag.ts'
import { showCommand } from '../../src/cli/resources/verbs/show.ts'

export default showCommand(ragTopic, [{ command: 'cadre rag show handbook', description: 'Show a tool by name' }])
