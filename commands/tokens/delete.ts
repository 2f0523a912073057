import { tokenTopic } from '../../src/cli/resources/topics/tokens.ts'
import { deleteCommand } from '../../src/cli/resources/verbs/delete.ts'

export default deleteCommand(tokenTopic, [{ command: "cadre tokens delete 'Nightly script'", description: 'Revoke a token immediately' }])
