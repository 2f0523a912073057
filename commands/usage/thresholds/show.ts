import { thresholdTopic } from '../../../src/cli/resources/topics/thresholds.ts'
import { showCommand } from '../../../src/cli/resources/verbs/show.ts'

export default showCommand(thresholdTopic)
