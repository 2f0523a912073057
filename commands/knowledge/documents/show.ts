import { string } from '@oclif/core/args'
import { resolveDocument } from '../../../src/cli/knowledge/documents.ts'
import { CadreCommand } from '../../../src/cli/oclif/base-command.ts'
import { resolveResource } from '../../../src/cli/resources/resolve-references.ts'
import { knowledgeTopic } from '../../../src/cli/resources/topics/knowledge.ts'
import { createIdArgument } from '../../../src/cli/resources/verbs/show.ts'
import { call } from '../../../src/client/call.ts'
import { documentRoutes } from '../../../src/contract/families/documents.ts'

export default class DocumentsShow extends CadreCommand {
  static override description = 'Show a document of a knowledge source with its size, status and error.'
  static override examples = [{ command: 'cadre knowledge documents show Handbook leave.md', description: 'Show a document by name' }]
  static override args = {
    source: createIdArgument(knowledgeTopic),
    document: string({ required: true, ignoreStdin: true, description: 'ID or name of the document.' }),
  }

  override async run(): Promise<void> {
    const { args, flags } = await this.parse(DocumentsShow)
    const connection = await this.connect(flags)
    const id = await resolveResource(connection, knowledgeTopic, args.source)
    const { data } = await call(connection, documentRoutes.get, {
      params: { id, document_id: await resolveDocument(connection, id, args.document) },
    })
    await this.print({ data }, flags)
  }
}
