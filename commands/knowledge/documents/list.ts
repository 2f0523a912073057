import { ResourceCommand } from '../../../src/cli/resources/resource-command.ts'
import { knowledgeTopic } from '../../../src/cli/resources/topics/knowledge.ts'
import { createPagingFlags, createQuery, fetchList, formatFooter } from '../../../src/cli/resources/verbs/list.ts'
import { createIdArgument } from '../../../src/cli/resources/verbs/show.ts'
import { Document, documentRoutes } from '../../../src/contract/families/documents.ts'
import { getSortableFields } from '../../../src/contract/schemas/list-query.ts'

export default class DocumentsList extends ResourceCommand {
  static override description = 'List the documents of a knowledge source.'
  static override examples = [
    { command: 'cadre knowledge documents list Handbook', description: 'List the newest documents' },
    {
      command: 'cadre knowledge documents list Handbook --filter status=failed --all',
      description: 'List every document that could not be read',
    },
  ]
  static override args = { source: createIdArgument(knowledgeTopic) }
  static override flags = createPagingFlags(getSortableFields(Document))

  override async run(): Promise<void> {
    const { args, flags } = await this.parse(DocumentsList)
    const { connection, id } = await this.connectTo(knowledgeTopic, args.source, flags)
    const page = await fetchList(connection, documentRoutes.list, { id }, createQuery(flags), flags.all)
    const isTable = this.getFormat(flags) === 'table'
    if (page.data.length === 0 && isTable)
      return this.notify(`No documents found. Upload one: cadre knowledge documents add ${args.source} FILE`)
    await this.print({ data: page.data, columns: ['id', 'name', 'status', 'type', 'size', 'chunks', 'error'] }, flags)
    if (isTable) this.notify(formatFooter(page))
  }
}
