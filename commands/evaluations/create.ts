import { evaluationTopic } from '../../src/cli/resources/topics/evaluations.ts'
import { createCommand } from '../../src/cli/resources/verbs/create.ts'

export default createCommand(evaluationTopic, [
  {
    command: "cadre evaluations create --file cases.csv --name 'Leave questions' --target 'Handbook helper' --scorers contains,citation",
    description: 'Read test cases from CSV, JSON Lines (.jsonl) or YAML',
  },
  {
    command:
      "cadre evaluations create --name 'Leave questions' --type agent --target 'Handbook helper' --test-cases @cases.yaml --scorers " +
      'contains,similarity',
    description: 'Set every field with flags',
  },
])
