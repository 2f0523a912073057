import { tokenTopic } from '../../src/cli/resources/topics/tokens.ts'
import { showCommand } from '../../src/cli/resources/verbs/show.ts'

export default showCommand(tokenTopic, [
  { command: "cadre tokens show 'Nightly script'", description: 'Show a token by name, without its value' },
])
