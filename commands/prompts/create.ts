import { promptTopic } from '../../src/cli/resources/topics/prompts.ts'
import { createCommand } from '../../src/cli/resources/verbs/create.ts'

export default createCommand(promptTopic, [
  {
    command: "cadre prompts create --name support --template 'You help {{company}} users about {{topic}}.'",
    description: 'Create a template; its variables are read from the text',
  },
])
