import { webhookTopic } from '../../src/cli/resources/topics/webhooks.ts'
import { showCommand } from '../../src/cli/resources/verbs/show.ts'

export default showCommand(webhookTopic, [
  { command: 'cadre webhooks show https://hooks.example.com/cadre', description: 'Show a webhook by URL' },
])
