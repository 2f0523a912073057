import { toolTopic } from '../../src/cli/resources/topics/tools.ts'
import { updateCommand } from '../../src/cli/resources/verbs/update.ts'

export default updateCommand(toolTopic, [
  {
    command: 'cadre tools update weather --timeout-ms 5000 --headers Accept=application/json',
    description: 'Set the timeout and a header',
  },
])
