import { evaluationTopic } from '../../src/cli/resources/topics/evaluations.ts'
import { updateCommand } from '../../src/cli/resources/verbs/update.ts'

export default updateCommand(evaluationTopic, [
  { command: "cadre evaluations update 'Leave questions' --file cases.csv", description: 'Replace the test cases' },
])
