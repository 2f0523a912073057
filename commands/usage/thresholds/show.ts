/** Shows one of the usage thresholds. */
import { thresholdTopic } from '../../../src/cli/topics/thresholds.ts'
import { showCommand } from '../../../src/cli/verbs/show.ts'

export default showCommand(thresholdTopic)
