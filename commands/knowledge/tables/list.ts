import { formatIncompleteTables } from '../../../src/cli/knowledge/format-incomplete-tables.ts'
import { createIdArgument, ResourceCommand } from '../../../src/cli/resources/resource-command.ts'
import { knowledgeTopic } from '../../../src/cli/resources/topics/knowledge.ts'
import { call } from '../../../src/client/call.ts'
import { tableRoutes } from '../../../src/contract/families/tables.ts'

export default class TablesList extends ResourceCommand {
  static override description = 'List the tables in the documents of a knowledge source.'
  static override examples = [{ command: 'cadre knowledge tables list Sales', description: 'List the tables of a source' }]
  static override args = { source: createIdArgument(knowledgeTopic) }

  override async run(): Promise<void> {
    const { args, flags } = await this.parse(TablesList)
    const { connection, id } = await this.connectTo(knowledgeTopic, args.source, flags)
    const { data } = await call(connection, tableRoutes.list, { params: { id } })
    if (this.getFormat(flags) !== 'table') return this.print({ data: data.tables }, flags)
    if (data.tables.length === 0 && data.left_out.length === 0)
      return this.notify('The documents have no tables. CSV, JSON and spreadsheets have them, and Markdown can.')
    const rows = data.tables.map(({ name, document, rows, columns }) => ({
      name,
      document,
      rows,
      columns: columns.map((column) => column.name).join(', '),
    }))
    await this.print({ data: rows, columns: ['name', 'document', 'rows', 'columns'] }, flags)
    for (const line of formatIncompleteTables(data.left_out)) this.notify(line)
  }
}
