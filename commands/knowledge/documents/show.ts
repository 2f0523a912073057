import { string } from '@oclif/core/args'
import { resolveDocument } from '../../../src/cli/knowledge/documents.ts'
import { createIdArgument, ResourceCommand } from '../../../src/cli/resources/resource-command.ts'
import { knowledgeTopic } from '../../../src/cli/resources/topics/knowledge.ts'
import { call } from '../../../src/client/call.ts'
import { documentRoutes } from '../../../src/contract/families/documents.ts'

export default class DocumentsShow extends ResourceCommand {
  static override description = 'Show a document of a knowledge source with its size, status and error.'
  static override examples = [{ command: 'cadre knowledge documents show Handbook leave.md', description: 'Show a document by name' }]
  static override args = {
    source: createIdArgument(knowledgeTopic),
    document: string({ required: true, ignoreStdin: true, description: 'ID or name of the document.' }),
  }

  override async run(): Promise<void> {
    const { args, flags } = await this.parse(DocumentsShow)
    const { connection, id } = await this.connectTo(knowledgeTopic, args.source, flags)
    const document_id = await resolveDocument(connection, { id, name: args.source }, args.document)
    const { data } = await call(connection, documentRoutes.get, { params: { id, document_id } })
    const { chunks, ...document } = data
    await this.print({ data: this.getFormat(flags) === 'table' ? { ...document, passages: chunks } : data }, flags)
  }
}
