/** Creates knowledge sources. */
import { knowledgeTopic } from '../../src/cli/resources/topics/knowledge.ts'
import { createCommand } from '../../src/cli/resources/verbs/create.ts'

export default createCommand(knowledgeTopic, [
  { command: 'cadre knowledge create --name Handbook --file-types pdf,md', description: 'A source that documents are sent to' },
  { command: "cadre knowledge create --name Code --path ./src --include '**/*.ts' --watch", description: 'A folder that is watched' },
  {
    command: 'cadre knowledge create --name Manual --url https://example.com/manual --mode site --max-depth 2',
    description: 'A web site, two links deep',
  },
])
