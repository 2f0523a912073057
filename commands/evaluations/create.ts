/** Creates evaluations. */
import { evaluationTopic } from '../../src/cli/topics/evaluations.ts'
import { createCommand } from '../../src/cli/verbs/create.ts'

export default createCommand(evaluationTopic, [
  {
    command: "cadre evaluations create --name 'Leave questions' --type agent --target 'Handbook helper' --test-cases @cases.yaml --scorers contains,similarity",
    description: 'Test cases from a file',
  },
])
