import { knowledgeTopic } from '../../src/cli/resources/topics/knowledge.ts'
import { listCommand } from '../../src/cli/resources/verbs/list.ts'

export default listCommand(knowledgeTopic, [
  { command: 'cadre knowledge list --status error', description: 'List sources whose last sync failed' },
])
