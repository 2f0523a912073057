import { string } from '@oclif/core/args'
import { createIdArgument, ResourceCommand } from '../../../src/cli/resources/resource-command.ts'
import { knowledgeTopic } from '../../../src/cli/resources/topics/knowledge.ts'
import { call } from '../../../src/client/call.ts'
import { CadreError } from '../../../src/contract/errors.ts'
import { tableRoutes } from '../../../src/contract/families/tables.ts'

export default class TablesShow extends ResourceCommand {
  static override description = 'Show the columns of a table and their types.'
  static override examples = [{ command: 'cadre knowledge tables show Sales orders', description: 'Show the columns of a table' }]
  static override args = {
    source: createIdArgument(knowledgeTopic),
    table: string({ required: true, ignoreStdin: true, description: 'Name of the table.' }),
  }

  override async run(): Promise<void> {
    const { args, flags } = await this.parse(TablesShow)
    const { connection, id } = await this.connectTo(knowledgeTopic, args.source, flags)
    const { data } = await call(connection, tableRoutes.list, { params: { id } })
    const table = data.tables.find(({ name }) => name === args.table)
    if (!table)
      throw new CadreError('NOT_FOUND', `${args.source} has no table "${args.table}".`, {
        hint: `To see its tables, run cadre knowledge tables list ${args.source}.`,
      })
    if (this.getFormat(flags) !== 'table') return this.print({ data: table }, flags)
    await this.print({ data: table.columns, columns: ['name', 'header', 'type', 'unit', 'text_name'] }, flags)
    this.notify(`${table.rows} rows of ${table.document}.${table.notice === null ? '' : ` ${table.notice}`}`)
  }
}
