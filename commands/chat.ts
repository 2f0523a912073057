/** A conversation with an agent, on the whole terminal or line by line. */
import { string } from '@oclif/core/args'
import { boolean, string as text } from '@oclif/core/flags'
import { CadreCommand } from '../src/cli/base-command.ts'
import { canRedraw, paint, wantsColor } from '../src/cli/color.ts'
import { UsageError } from '../src/cli/failure.ts'
import { connect } from '../src/client/daemon.ts'

export default class Chat extends CadreCommand {
  static override description =
    'Talk with an agent.\n\nReplies appear as they are written, with their sources. Without a name it is the agent you talked with last. /help in the chat shows its commands and keys.'
  static override examples = [
    { command: 'cadre chat', description: 'With the agent you talked with last' },
    { command: "cadre chat 'Handbook helper'", description: 'With another one' },
    { command: 'cadre chat --continue', description: 'Go on where you left off' },
    { command: 'cadre chat --plain', description: 'Line by line, for screen readers and pipes' },
  ]
  static override args = { agent: string({ ignoreStdin: true, description: 'Name or identifier of the agent.' }) }
  static override flags = {
    agent: text({ char: 'a', description: 'The agent, as the argument.', helpValue: '<agent>' }),
    conversation: text({
      description: 'Go on with this conversation; its title or identifier.',
      helpValue: '<conversation>',
      exclusive: ['continue', 'agent'],
    }),
    continue: boolean({ char: 'c', description: 'Go on with the newest conversation, of the agent where one is named.' }),
    model: text({ char: 'm', description: "Answer with this model instead of the agent's.", helpValue: '<model>' }),
    plain: boolean({ description: 'Line by line, without drawing on the terminal.' }),
  }

  override async run(): Promise<void> {
    const { args, flags } = await this.parse(Chat)
    if (args.agent !== undefined && flags.agent !== undefined) throw new UsageError('The agent is named twice.', 'Name it once: cadre chat NAME.')
    const opening = { agent: args.agent ?? flags.agent, conversation: flags.conversation, goOn: flags.continue, model: flags.model }
    const [input, output] = [process.stdin, process.stdout]
    const drawable = input.isTTY === true && canRedraw(output)
    if (!flags.plain && !drawable)
      throw new UsageError('cadre chat needs a terminal it can draw on.', 'For one question use cadre ask; cadre chat --plain talks line by line.')
    // Once the screen is drawn, nothing else may write to the terminal.
    const state = { narrate: this.narrate }
    const dial = (start: boolean) =>
      connect({ paths: this.paths, start: start && flags.start !== false, root: this.config.root, narrate: (line) => state.narrate(line) })
    const shared = { connect: dial, opening, cwd: process.cwd() }
    const conversation = flags.plain
      ? await (await import('../src/tui/plain.ts')).plainChat({ ...shared, input, output })
      : await (await import('../src/tui/chat.tsx')).chat({ ...shared, input, output, colors: wantsColor(output), drawing: () => (state.narrate = () => {}) })
    if (conversation !== undefined && !flags.plain) this.narrate(paint('dim', `To go on: cadre chat --conversation ${conversation}`))
  }
}
