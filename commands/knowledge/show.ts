import { knowledgeTopic } from '../../src/cli/resources/topics/knowledge.ts'
import { showCommand } from '../../src/cli/resources/verbs/show.ts'

export default showCommand(knowledgeTopic, [{ command: 'cadre knowledge show Handbook', description: 'Show a source by name' }])
