/** Deletes usage thresholds. */
import { thresholdTopic } from '../../../src/cli/topics/thresholds.ts'
import { deleteCommand } from '../../../src/cli/verbs/delete.ts'

export default deleteCommand(thresholdTopic)
