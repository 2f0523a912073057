import { knowledgeTopic } from '../../src/cli/resources/topics/knowledge.ts'
import { createCommand } from '../../src/cli/resources/verbs/create.ts'

export default createCommand(knowledgeTopic, [
  { command: 'cadre knowledge create --name Handbook --file-types pdf,md', description: 'Create a source for uploaded documents' },
  {
    command: "cadre knowledge create --name Code --path ./src --include '**/*.ts' --watch",
    description: 'Create a source from a folder and watch it',
  },
  {
    command: 'cadre knowledge create --name Manual --url https://example.com/manual --mode site --max-depth 2',
    description: 'Create a source from a web site, two links deep',
  },
])
