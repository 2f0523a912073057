/** Changes one of the knowledge sources. */
import { knowledgeTopic } from '../../src/cli/topics/knowledge.ts'
import { updateCommand } from '../../src/cli/verbs/update.ts'

export default updateCommand(knowledgeTopic, [{ command: "cadre knowledge update Handbook --name 'Staff handbook'", description: 'A new name' }])
