import { webhookTopic } from '../../src/cli/resources/topics/webhooks.ts'
import { listCommand } from '../../src/cli/resources/verbs/list.ts'

export default listCommand(webhookTopic, [{ command: 'cadre webhooks list --filter enabled=true', description: 'List enabled webhooks' }])
