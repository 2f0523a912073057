import { knowledgeTopic } from '../../src/cli/resources/topics/knowledge.ts'
import { updateCommand } from '../../src/cli/resources/verbs/update.ts'

export default updateCommand(knowledgeTopic, [
  { command: "cadre knowledge update Handbook --name 'Staff handbook'", description: 'Rename a source' },
  { command: 'cadre knowledge update Handbook --no-watch', description: 'Stop following the changes of a folder' },
])
