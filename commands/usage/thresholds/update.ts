import { thresholdTopic } from '../../../src/cli/resources/topics/thresholds.ts'
import { updateCommand } from '../../../src/cli/resources/verbs/update.ts'

export default updateCommand(thresholdTopic, [
  { command: "cadre usage thresholds update 'Monthly budget' --limit 30", description: 'Change the limit' },
])
