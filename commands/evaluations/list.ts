import { evaluationTopic } from '../../src/cli/resources/topics/evaluations.ts'
import { listCommand } from '../../src/cli/resources/verbs/list.ts'

export default listCommand(evaluationTopic, [{ command: 'cadre evaluations list --type agent', description: 'List evaluations of agents' }])
