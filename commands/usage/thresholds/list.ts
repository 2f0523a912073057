/** Lists the usage thresholds. */
import { thresholdsText } from '../../../src/cli/threshold-text.ts'
import { thresholdTopic } from '../../../src/cli/topics/thresholds.ts'
import { listCommand } from '../../../src/cli/verbs/list.ts'

export default listCommand(
  thresholdTopic,
  [{ command: 'cadre usage thresholds list --action block', description: 'Those that refuse further calls' }],
  thresholdsText,
)
