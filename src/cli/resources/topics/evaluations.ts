import { evaluationRoutes, evaluations } from '../../../contract/families/evaluations.ts'
import { readEvaluations } from '../../evaluations/read-test-cases.ts'
import { getKindsByField } from '../resolve-references.ts'
import type { Topic } from '../topic.ts'

export const evaluationTopic: Topic = {
  command: 'evaluations',
  family: evaluations,
  routes: evaluationRoutes,
  columns: ['id', 'name', 'type', 'target_id', 'description'],
  label: 'name',
  getNextStep: ({ name }) => ['Run it', `cadre evaluations run ${name}`],
  readFile: readEvaluations,
  fileContents: 'test cases from CSV, JSON Lines (.jsonl), JSON or YAML, or fields from JSON or YAML',
  references: { target_id: getKindsByField('type', ['agent', 'rag_tool', 'prompt_template', 'model']) },
}
