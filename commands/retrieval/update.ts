import { retrievalTopic } from '../../src/cli/resources/topics/retrieval.ts'
import { updateCommand } from '../../src/cli/resources/verbs/update.ts'

export default updateCommand(retrievalTopic, [
  { command: 'cadre retrieval update find --score-threshold 0.4', description: 'Set the minimum score of passages' },
])
