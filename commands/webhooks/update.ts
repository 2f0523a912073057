import { webhookTopic } from '../../src/cli/resources/topics/webhooks.ts'
import { updateCommand } from '../../src/cli/resources/verbs/update.ts'

export default updateCommand(webhookTopic, [
  { command: 'cadre webhooks update https://hooks.example.com/cadre --no-enabled', description: 'Disable a webhook' },
])
