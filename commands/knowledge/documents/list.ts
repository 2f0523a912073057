import { createIdArgument, ResourceCommand } from '../../../src/cli/resources/resource-command.ts'
import { knowledgeTopic } from '../../../src/cli/resources/topics/knowledge.ts'
import { createPagingFlags, createQuery, fetchList, formatFooter } from '../../../src/cli/resources/verbs/list.ts'
import { formatCount } from '../../../src/cli/terminal/format-quantity.ts'
import { quoteShellWord } from '../../../src/cli/terminal/shell-quote.ts'
import { call } from '../../../src/client/call.ts'
import type { Connection } from '../../../src/client/request.ts'
import { Document, documentRoutes } from '../../../src/contract/families/documents.ts'
import { knowledgeSourceRoutes } from '../../../src/contract/families/knowledge-sources.ts'
import { getSortableFields, type Pagination } from '../../../src/contract/schemas/list-query.ts'

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
    const query = createQuery(flags)
    const page = await fetchList(connection, documentRoutes.list, { id }, query, flags.all)
    if (this.getFormat(flags) !== 'table') return this.print({ data: page.data, columns }, flags)
    if (page.data.length > 0) {
      const rows = page.data.map(({ chunks, ...document }) => ({ ...document, passages: chunks }))
      await this.print({ data: rows, columns: columns.map((name) => (name === 'chunks' ? 'passages' : name)) }, flags)
      this.notify(formatFooter(page))
    } else this.notify(formatEmptyList(page.pagination, flags.filter !== undefined, quoteShellWord(args.source)))
    if (flags.filter === undefined) await this.#reportSkipped(connection, id, quoteShellWord(args.source))
  }

  /** Without a filter, lists do not contain the skipped files. */
  async #reportSkipped(connection: Connection, id: string, source: string): Promise<void> {
    const { skipped } = (await call(connection, knowledgeSourceRoutes.get, { params: { id } })).data.statistics
    if (skipped === 0) return
    const files = skipped === 1 ? '1 file was skipped' : `${formatCount(skipped)} files were skipped`
    this.notify(`${files}: cadre knowledge documents list ${source} --filter status=skipped`)
  }
}

const columns = ['id', 'name', 'status', 'type', 'size', 'chunks', 'error']

function formatEmptyList({ page, total }: Pagination, isFiltered: boolean, source: string): string {
  if (total > 0) return `Page ${page} is empty; there are ${formatCount(total, 'document')}.`
  return isFiltered ? 'No documents match.' : `No documents found. Upload one: cadre knowledge documents add ${source} FILE`
}
