/** Deletes knowledge sources. */
import { knowledgeTopic } from '../../src/cli/topics/knowledge.ts'
import { deleteCommand } from '../../src/cli/verbs/delete.ts'

export default deleteCommand(knowledgeTopic, [{ command: 'cadre knowledge delete Handbook', description: 'With all of its documents' }])
