import { memoryTopic } from '../../src/cli/resources/topics/memories.ts'
import { showCommand } from '../../src/cli/resources/verbs/show.ts'

export default showCommand(memoryTopic)
