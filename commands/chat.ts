import { string } from '@oclif/core/args'
import { boolean, string as text } from '@oclif/core/flags'
import { canOpenChat, openChat } from '../src/cli/ask/open-chat.ts'
import { CadreCommand } from '../src/cli/oclif/base-command.ts'
import { UsageError } from '../src/cli/terminal/failures/command-errors.ts'
import { readDefaultAgent } from '../src/client/default-agent.ts'

export default class Chat extends CadreCommand {
  static override description =
    'Chat with an agent.\n\n' +
    'Without AGENT, the agent set with cadre config set agent is used, or you choose one. Type /help in the chat for its ' +
    'commands and keys.'
  static override examples = [
    { command: 'cadre chat', description: 'Chat with the default agent or choose one' },
    { command: "cadre chat 'Handbook helper'", description: 'Chat with an agent by name' },
    { command: 'cadre chat --continue', description: 'Continue your last conversation' },
    { command: 'cadre chat --plain', description: 'Chat line by line, for screen readers and pipes' },
  ]
  static override args = { agent: string({ ignoreStdin: true, description: 'ID or name of the agent.' }) }
  static override flags = {
    agent: text({ char: 'a', description: 'ID or name of the agent, same as the argument.', helpValue: '<text>' }),
    conversation: text({
      char: 'c',
      description: 'Continue this conversation, by ID or title.',
      helpValue: '<text>',
      exclusive: ['continue', 'agent'],
    }),
    continue: boolean({ description: 'Continue your last conversation; with an agent, the last one with that agent.' }),
    model: text({ char: 'm', description: "Use this model instead of the agent's.", helpValue: '<text>' }),
    plain: boolean({ description: 'Chat line by line instead of full screen; the default with TERM=dumb.' }),
  }

  override async run(): Promise<void> {
    const { args, flags } = await this.parse(Chat)
    if (args.agent !== undefined && flags.agent !== undefined)
      throw new UsageError('The agent is given twice.', 'Use either the argument or --agent: cadre chat NAME')
    if (!flags.plain && !(process.stdin.isTTY && process.stdout.isTTY))
      throw new UsageError(
        'cadre chat needs an interactive terminal.',
        'Use cadre ask for one question, or cadre chat --plain to chat line by line.',
      )
    const { conversation, continue: continueLast, model, profile, start } = flags
    // A terminal that cannot redraw (TERM=dumb) shows lines.
    const plain = flags.plain || !canOpenChat()
    const options = {
      agent: args.agent ?? flags.agent,
      conversation,
      continueLast,
      model,
      defaultAgent: readDefaultAgent(this.paths, profile),
    }
    await openChat({ paths: this.paths, profile, root: this.config.root, start, notify: this.notify, plain }, options)
  }
}
