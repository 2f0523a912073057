/** `cadre conversations export`. */
import { writeFileSync } from 'node:fs'
import { boolean, option, string } from '@oclif/core/flags'
import { getSpeakers } from '../../src/cli/conversations/format-conversation.ts'
import { formatConversationMarkdown } from '../../src/cli/conversations/format-markdown.ts'
import { getConversation } from '../../src/cli/conversations/get-conversation.ts'
import { createWriteError } from '../../src/cli/input/file-errors.ts'
import { CadreCommand } from '../../src/cli/oclif/base-command.ts'
import { resolveResource } from '../../src/cli/resources/resolve-references.ts'
import { conversationTopic } from '../../src/cli/resources/topics/conversations.ts'
import { createIdArgument } from '../../src/cli/resources/verbs/show.ts'
import { UsageError } from '../../src/cli/terminal/errors.ts'
import { formatJson } from '../../src/cli/terminal/render.ts'
import { sanitizeText } from '../../src/cli/terminal/text.ts'

const FORMATS = ['md', 'json'] as const

export default class ConversationsExport extends CadreCommand {
  static override description =
    'Export a conversation as Markdown or JSON.\n\n' +
    'Writes to stdout unless --to names a file. Without --format, the file extension selects the format.'
  static override examples = [
    { command: "cadre conversations export 'Leave in summer' --to leave.md", description: 'Export as Markdown' },
    {
      command: 'cadre conversations export conv_019a3c5e-7d2b-7c31-9a44-0c9f5d1e2b3a --format json > leave.json',
      description: 'Export as JSON with every field',
    },
  ]
  static override args = { id: createIdArgument(conversationTopic) }
  static override flags = {
    format: option({ options: FORMATS })({ description: 'Output format (default: md).', helpValue: FORMATS.join('|') }),
    to: string({ description: 'File to write.', helpValue: '<file>' }),
    force: boolean({ description: 'Overwrite an existing file.' }),
  }

  override async run(): Promise<void> {
    const { args, flags } = await this.parse(ConversationsExport)
    const json = (flags.format ?? (this.getFormat(flags) === 'json' || flags.to?.endsWith('.json') ? 'json' : 'md')) === 'json'
    const connection = await this.connect(flags)
    const data = await getConversation(connection, await resolveResource(connection, conversationTopic, args.id))
    const text = json ? `${formatJson(data)}\n` : formatConversationMarkdown(data, await getSpeakers(connection, data))
    if (flags.to === undefined) process.stdout.write(flags.raw ? text : sanitizeText(text))
    else this.#write(flags.to, text, flags.force)
  }

  #write(file: string, text: string, force: boolean): void {
    try {
      writeFileSync(file, text, { flag: force ? 'w' : 'wx' })
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw createWriteError(file, error)
      throw new UsageError(`${file} already exists.`, 'Choose another file, or add --force to overwrite it.')
    }
    this.notify(`Wrote ${file}.`)
  }
}
