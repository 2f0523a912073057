/** Creates prompt templates. */
import { promptTopic } from '../../src/cli/resources/topics/prompts.ts'
import { createCommand } from '../../src/cli/resources/verbs/create.ts'

export default createCommand(promptTopic, [
  {
    command: "cadre prompts create --name support --template 'You help {{company}} users about {{topic}}.'",
    description: 'A template; its variables are found in the text',
  },
])
