import { thresholdTopic } from '../../../src/cli/resources/topics/thresholds.ts'
import { listCommand } from '../../../src/cli/resources/verbs/list.ts'
import { formatThresholds } from '../../../src/cli/usage/format-thresholds.ts'

export default listCommand(
  thresholdTopic,
  [{ command: 'cadre usage thresholds list --action block', description: 'List thresholds that block calls' }],
  formatThresholds,
)
