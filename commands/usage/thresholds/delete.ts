import { thresholdTopic } from '../../../src/cli/resources/topics/thresholds.ts'
import { deleteCommand } from '../../../src/cli/resources/verbs/delete.ts'

export default deleteCommand(thresholdTopic)
