import { toolTopic } from '../../src/cli/resources/topics/tools.ts'
import { createCommand } from '../../src/cli/resources/verbs/create.ts'

export default createCommand(toolTopic, [
  {
    command: "cadre tools create --name weather --url 'https://api.example.com/weather/{city}' --description 'Weather in a city'",
    description: 'Create a tool with one argument',
  },
  {
    command:
      'cadre tools create --name tickets --url https://desk.example.com/tickets --method POST --auth @auth.json --requires-confirmation',
    description: 'Create a tool that authenticates and needs confirmation',
  },
])
