import { thresholdTopic } from '../../../src/cli/resources/topics/thresholds.ts'
import { createCommand } from '../../../src/cli/resources/verbs/create.ts'

export default createCommand(thresholdTopic, [
  {
    command: "cadre usage thresholds create --name 'Monthly budget' --metric cost --limit 20 --period month --action block",
    description: 'Set a monthly budget for all usage',
  },
  {
    command: "cadre usage thresholds create --entity-type agent --entity 'Handbook helper' --metric tokens --limit 100000 --period day",
    description: 'Notify when an agent exceeds a daily limit',
  },
])
