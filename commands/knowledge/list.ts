/** Lists the knowledge sources. */
import { knowledgeTopic } from '../../src/cli/topics/knowledge.ts'
import { listCommand } from '../../src/cli/verbs/list.ts'

export default listCommand(knowledgeTopic, [{ command: 'cadre knowledge list --status error', description: 'Those whose last synchronization failed' }])
