/** Writes a conversation into a file, for people or for programs. */
import { writeFileSync } from 'node:fs'
import { boolean, option, string } from '@oclif/core/flags'
import { speakersOf } from '../../src/cli/conversations/format-conversation.ts'
import { conversationMarkdown } from '../../src/cli/conversations/to-markdown.ts'
import { unwritable } from '../../src/cli/input/file-errors.ts'
import { CadreCommand } from '../../src/cli/oclif/base-command.ts'
import { resolveOwn } from '../../src/cli/resources/resolve-references.ts'
import { conversationTopic } from '../../src/cli/resources/topics/conversations.ts'
import { ownArgument } from '../../src/cli/resources/verbs/show.ts'
import { UsageError } from '../../src/cli/terminal/errors.ts'
import { toJson } from '../../src/cli/terminal/render.ts'
import { printable } from '../../src/cli/terminal/text.ts'
import { call } from '../../src/client/call.ts'
import { conversationRoutes } from '../../src/contract/families/conversations.ts'

const FORMATS = ['md', 'json'] as const

export default class ConversationsExport extends CadreCommand {
  static override description =
    'Export a conversation as Markdown or JSON.\n\nGoes to stdout unless --to names a file; the ending of its name chooses the format where --format does not.'
  static override examples = [
    { command: "cadre conversations export 'Leave in summer' --to leave.md", description: 'To read and to share' },
    {
      command: 'cadre conversations export conv_019a3c5e-7d2b-7c31-9a44-0c9f5d1e2b3a --format json > leave.json',
      description: 'With everything that is known of it',
    },
  ]
  static override args = { id: ownArgument(conversationTopic) }
  static override flags = {
    format: option({ options: FORMATS })({ description: 'md, or json with every field; md when left out.', helpValue: FORMATS.join('|') }),
    to: string({ description: 'File to write.', helpValue: '<file>' }),
    force: boolean({ description: 'Write over a file that is there.' }),
  }

  override async run(): Promise<void> {
    const { args, flags } = await this.parse(ConversationsExport)
    const json = (flags.format ?? (this.formatOf(flags) === 'json' || flags.to?.endsWith('.json') ? 'json' : 'md')) === 'json'
    const connection = await this.connect(flags)
    const { data } = await call(connection, conversationRoutes.get, {
      params: { id: await resolveOwn(connection, conversationTopic, args.id) },
    })
    const text = json ? `${toJson(data)}\n` : conversationMarkdown(data, await speakersOf(connection, data))
    if (flags.to === undefined) process.stdout.write(process.stdout.isTTY ? printable(text) : text)
    else this.#write(flags.to, text, flags.force)
  }

  #write(file: string, text: string, force: boolean): void {
    try {
      writeFileSync(file, text, { flag: force ? 'w' : 'wx' })
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw unwritable(file, error)
      throw new UsageError(`${file} is there already.`, 'Name another file, or add --force to write over it.')
    }
    this.narrate(`Wrote ${file}.`)
  }
}
