import { option, string } from '@oclif/core/flags'
import { EXPORT_FORMATS, formatExport, resolveExportFormat } from '../../src/cli/conversations/format-export.ts'
import { getConversation } from '../../src/cli/conversations/get-conversation.ts'
import { forceFlag, writeReport } from '../../src/cli/html/write-report.ts'
import { createIdArgument, ResourceCommand } from '../../src/cli/resources/resource-command.ts'
import { conversationTopic } from '../../src/cli/resources/topics/conversations.ts'
import { sanitizeText } from '../../src/cli/terminal/text.ts'

export default class ConversationsExport extends ResourceCommand {
  static override description =
    'Export a conversation as Markdown, JSON or HTML.\n\n' +
    'Writes to stdout unless --to names a file. Without --format, the file extension selects the format.'
  static override examples = [
    { command: "cadre conversations export 'Leave in summer' --to leave.md", description: 'Export as Markdown' },
    { command: "cadre conversations export 'Leave in summer' --html leave.html", description: 'Export as one HTML file to share' },
    {
      command: 'cadre conversations export conv_019a3c5e-7d2b-7c31-9a44-0c9f5d1e2b3a --format json > leave.json',
      description: 'Export as JSON with every field',
    },
  ]
  static override args = { id: createIdArgument(conversationTopic) }
  static override flags = {
    format: option({ options: EXPORT_FORMATS })({ description: 'Output format (default: md).', helpValue: EXPORT_FORMATS.join('|') }),
    to: string({ description: 'File to write.', helpValue: '<file>' }),
    html: string({ description: 'Same as --format html --to <file>.', helpValue: '<file>', exclusive: ['json', 'output', 'format', 'to'] }),
    force: forceFlag,
  }

  override async run(): Promise<void> {
    const { args, flags } = await this.parse(ConversationsExport)
    const to = flags.html ?? flags.to
    const format =
      flags.html === undefined
        ? (flags.format ?? resolveExportFormat(to ?? '') ?? (this.getFormat(flags) === 'json' ? 'json' : 'md'))
        : 'html'
    const { connection, id } = await this.connectTo(conversationTopic, args.id, flags)
    const data = await getConversation(connection, id)
    const text = await formatExport(connection, data, format)
    if (to === undefined || to === '-') process.stdout.write(flags.raw ? text : sanitizeText(text))
    else writeReport(to, text, flags, this.notify)
  }
}
