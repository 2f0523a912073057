import { evaluationTopic } from '../../src/cli/resources/topics/evaluations.ts'
import { deleteCommand } from '../../src/cli/resources/verbs/delete.ts'

export default deleteCommand(evaluationTopic, [
  { command: "cadre evaluations delete 'Leave questions'", description: 'Delete an evaluation by name' },
])
