import { tokenTopic } from '../../src/cli/resources/topics/tokens.ts'
import { updateCommand } from '../../src/cli/resources/verbs/update.ts'

export default updateCommand(tokenTopic, [
  { command: "cadre tokens update 'Nightly script' --expires-at null", description: 'Remove the expiry date' },
])
