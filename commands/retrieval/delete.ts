import { retrievalTopic } from '../../src/cli/resources/topics/retrieval.ts'
import { deleteCommand } from '../../src/cli/resources/verbs/delete.ts'

export default deleteCommand(retrievalTopic, [{ command: 'cadre retrieval delete find', description: 'Delete a tool by name' }])
