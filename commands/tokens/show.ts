/** Shows one of the access tokens. */
import { tokenTopic } from '../../src/cli/resources/topics/tokens.ts'
import { showCommand } from '../../src/cli/resources/verbs/show.ts'

export default showCommand(tokenTopic, [
  { command: "cadre tokens show 'Nightly script'", description: 'By name; the token itself is never shown again' },
])
