import { tokenTopic } from '../../src/cli/resources/topics/tokens.ts'
import { listCommand } from '../../src/cli/resources/verbs/list.ts'

export default listCommand(tokenTopic, [{ command: 'cadre tokens list --role admin', description: 'List admin tokens' }])
