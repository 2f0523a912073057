import { webhookTopic } from '../../src/cli/resources/topics/webhooks.ts'
import { deleteCommand } from '../../src/cli/resources/verbs/delete.ts'

export default deleteCommand(webhookTopic, [
  { command: 'cadre webhooks delete https://hooks.example.com/cadre', description: 'Delete a webhook by URL' },
])
