import { string } from '@oclif/core/args'
import { resolveDocument } from '../../../src/cli/knowledge/documents.ts'
import { createIdArgument, ResourceCommand } from '../../../src/cli/resources/resource-command.ts'
import { knowledgeTopic } from '../../../src/cli/resources/topics/knowledge.ts'
import { confirm, yesFlag } from '../../../src/cli/terminal/confirm.ts'
import { call } from '../../../src/client/call.ts'
import { documentRoutes } from '../../../src/contract/families/documents.ts'

export default class DocumentsDelete extends ResourceCommand {
  static override description =
    'Delete documents from a knowledge source.\n\nAsks for confirmation; --yes skips the prompt and is required without a terminal.'
  static override examples = [
    { command: 'cadre knowledge documents delete Handbook leave.md travel.pdf --yes', description: 'Delete two documents by name' },
  ]
  static override args = {
    source: createIdArgument(knowledgeTopic),
    document: string({
      required: true,
      multiple: true,
      ignoreStdin: true,
      description: 'ID or name of the document. Repeatable.',
    }),
  }
  static override flags = { yes: yesFlag }

  override async run(): Promise<void> {
    const { args, flags } = await this.parse(DocumentsDelete)
    const { source, document: names } = args
    await confirm(`Delete ${names.join(', ')} from ${source}?`, flags.yes)
    const { connection, id } = await this.connectTo(knowledgeTopic, source, flags)
    const ids = await Promise.all(names.map((name) => resolveDocument(connection, { id, name: args.source }, name)))
    const deleted: { id: string; message: string }[] = []
    for (const document_id of ids) {
      const { message } = await call(connection, documentRoutes.remove, { params: { id, document_id } })
      deleted.push({ id: document_id, message })
      this.notify(message)
    }
    await this.printUnlessTable(names.length === 1 ? (deleted[0] ?? {}) : deleted, flags)
  }
}
