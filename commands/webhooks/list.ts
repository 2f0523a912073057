/** Lists the webhooks. */
import { webhookTopic } from '../../src/cli/topics/webhooks.ts'
import { listCommand } from '../../src/cli/verbs/list.ts'

export default listCommand(webhookTopic, [{ command: 'cadre webhooks list --filter enabled=true', description: 'Those that are told of events' }])
