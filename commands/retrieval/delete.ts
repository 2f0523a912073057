/** Deletes retrieval tools. */
import { retrievalTopic } from '../../src/cli/topics/retrieval.ts'
import { deleteCommand } from '../../src/cli/verbs/delete.ts'

export default deleteCommand(retrievalTopic, [{ command: 'cadre retrieval delete find', description: 'By name' }])
