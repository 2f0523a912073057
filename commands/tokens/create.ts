import { tokenTopic } from '../../src/cli/resources/topics/tokens.ts'
import { createCommand } from '../../src/cli/resources/verbs/create.ts'

export default createCommand(tokenTopic, [
  {
    command: "cadre tokens create --name 'Nightly script' --role viewer --expires-at 2027-01-31T00:00:00Z",
    description: 'Create a token; it is shown only once',
  },
])
