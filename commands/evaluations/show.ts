import { evaluationTopic } from '../../src/cli/resources/topics/evaluations.ts'
import { showCommand } from '../../src/cli/resources/verbs/show.ts'

export default showCommand(evaluationTopic, [
  { command: "cadre evaluations show 'Leave questions'", description: 'Show an evaluation and its test cases' },
])
