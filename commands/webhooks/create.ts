import { webhookTopic } from '../../src/cli/resources/topics/webhooks.ts'
import { createCommand } from '../../src/cli/resources/verbs/create.ts'

export default createCommand(webhookTopic, [
  {
    command: 'cadre webhooks create --url https://hooks.example.com/cadre --events conversation.completed,evaluation.finished',
    description: 'Create a webhook; its signing secret is shown once',
  },
])
