import { ragTopic } from '../../src/cli/resources/topics/rag.ts'
import { deleteCommand } from '../../src/cli/resources/verbs/delete.ts'

export default deleteCommand(ragTopic, [{ command: 'cadre rag delete handbook', description: 'Delete a tool by name' }])
