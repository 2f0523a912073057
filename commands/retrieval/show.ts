import { retrievalTopic } from '../../src/cli/resources/topics/retrieval.ts'
import { showCommand } from '../../src/cli/resources/verbs/show.ts'

export default showCommand(retrievalTopic, [{ command: 'cadre retrieval show find', description: 'Show a tool by name' }])
