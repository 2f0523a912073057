/** Changes one of the webhooks. */
import { webhookTopic } from '../../src/cli/topics/webhooks.ts'
import { updateCommand } from '../../src/cli/verbs/update.ts'

export default updateCommand(webhookTopic, [{ command: 'cadre webhooks update https://hooks.example.com/cadre --no-enabled', description: 'Stop telling it' }])
