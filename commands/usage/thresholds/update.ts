/** `cadre usage thresholds update`. */
import { thresholdTopic } from '../../../src/cli/resources/topics/thresholds.ts'
import { updateCommand } from '../../../src/cli/resources/verbs/update.ts'

export default updateCommand(thresholdTopic, [
  { command: 'cadre usage thresholds update thr_019a3c5e-7d2b-7c31-9a44-0c9f5d1e2b3a --limit 200000', description: 'Change the limit' },
])
