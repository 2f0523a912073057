/** Shows one of the access tokens. */
import { tokenTopic } from '../../src/cli/topics/tokens.ts'
import { showCommand } from '../../src/cli/verbs/show.ts'

export default showCommand(tokenTopic, [{ command: "cadre tokens show 'Nightly script'", description: 'By name; the token itself is never shown again' }])
