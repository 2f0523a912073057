/** A conversation with an agent, on the whole terminal or line by line. */
import { string } from '@oclif/core/args'
import { boolean, string as text } from '@oclif/core/flags'
import { canChat, openChat } from '../src/cli/ask/open-chat.ts'
import { CadreCommand } from '../src/cli/oclif/base-command.ts'
import { UsageError } from '../src/cli/terminal/errors.ts'
import { readSettings } from '../src/config.ts'

export default class Chat extends CadreCommand {
  static override description =
    'Talk with an agent.\n\nReplies appear as they are written, with their sources. Without a name it is the agent that cadre config set agent names, or the only one there is; among several you choose, and Enter alone takes the one you talked with last. /help in the chat shows its commands and keys.'
  static override examples = [
    { command: 'cadre chat', description: 'With the only agent, the one that is set, or the one you choose' },
    { command: "cadre chat 'Handbook helper'", description: 'With another one' },
    { command: 'cadre chat --continue', description: 'Go on where you left off' },
    { command: 'cadre chat --plain', description: 'Line by line, for screen readers and pipes' },
  ]
  static override args = { agent: string({ ignoreStdin: true, description: 'Name or identifier of the agent.' }) }
  static override flags = {
    agent: text({ char: 'a', description: 'Identifier or name of the agent, as the argument.', helpValue: '<text>' }),
    conversation: text({
      char: 'c',
      description: 'Go on in this conversation, by identifier or title.',
      helpValue: '<text>',
      exclusive: ['continue', 'agent'],
    }),
    continue: boolean({ description: 'Go on in the last conversation; with an agent in the last one with it.' }),
    model: text({ char: 'm', description: "Answer with this model instead of the agent's.", helpValue: '<text>' }),
    plain: boolean({ description: 'Line by line, without drawing on the terminal.' }),
  }

  override async run(): Promise<void> {
    const { args, flags } = await this.parse(Chat)
    if (args.agent !== undefined && flags.agent !== undefined)
      throw new UsageError('The agent is named twice.', 'Name it once: cadre chat NAME.')
    if (!flags.plain && !canChat())
      throw new UsageError(
        'cadre chat needs a terminal it can draw on.',
        'For one question use cadre ask; cadre chat --plain talks line by line.',
      )
    const { conversation, continue: goOn, model, plain, start } = flags
    const opening = { agent: args.agent ?? flags.agent, conversation, goOn, model, preferred: readSettings(this.paths).agent }
    await openChat({ paths: this.paths, root: this.config.root, start, narrate: this.narrate, plain }, opening)
  }
}
