import { string } from '@oclif/core/args'
import { integer } from '@oclif/core/flags'
import { InputReader } from '../../src/cli/input/input-reader.ts'
import { createIdArgument, ResourceCommand } from '../../src/cli/resources/resource-command.ts'
import { knowledgeTopic } from '../../src/cli/resources/topics/knowledge.ts'
import { formatChart } from '../../src/cli/terminal/bar-chart.ts'
import { getOutput, type Output } from '../../src/cli/terminal/table.ts'
import { call } from '../../src/client/call.ts'
import { MAX_QUERY_ROWS, type TableQueryResult, tableRoutes } from '../../src/contract/families/tables.ts'

const MAX_BARS = 40

export default class KnowledgeQuery extends ResourceCommand {
  static override description =
    'Query the tables of a knowledge source with SQL.\n\n' +
    'Runs one SELECT of SQLite. Groups with a number each are drawn as bars on a terminal.'
  static override examples = [
    {
      command: `cadre knowledge query Sales "select count(*) from orders where status = 'cancelled'"`,
      description: 'Count the cancelled orders',
    },
    {
      command: 'cadre knowledge query Sales "select country, sum(amount) from orders group by country" --output csv',
      description: 'Write a total per country as CSV',
    },
  ]
  static override args = {
    source: createIdArgument(knowledgeTopic),
    sql: string({ required: true, ignoreStdin: true, description: 'SELECT statement, or - to read it from stdin.' }),
  }
  static override flags = {
    'max-rows': integer({ min: 1, max: MAX_QUERY_ROWS, default: 1_000, description: 'Maximum number of rows.' }),
  }

  override async run(): Promise<void> {
    const { args, flags } = await this.parse(KnowledgeQuery)
    const sql = args.sql === '-' ? (await new InputReader().readStdin('The query')).toString() : args.sql
    const { connection, id } = await this.connectTo(knowledgeTopic, args.source, flags)
    const { data } = await call(connection, tableRoutes.query, { params: { id }, body: { sql, max_rows: flags['max-rows'] } })
    const isTable = this.getFormat(flags) === 'table'
    const bars = isTable && process.stdout.isTTY ? formatGroups(data, getOutput(process.stdout)) : undefined
    if (bars) process.stdout.write(`${bars.join('\n')}\n`)
    else {
      const rows = data.rows.map((row) => Object.fromEntries(data.columns.map((name, index) => [name, row[index] ?? null])))
      await this.print({ data: rows, columns: data.columns }, flags)
    }
    if (data.truncated) this.notify(`Only the first ${data.rows.length} rows are shown. Use --max-rows for more.`)
  }
}

/** Draws groups as bars. Returns undefined unless the result has a column of names and one of numbers that are not negative. */
function formatGroups({ columns, rows }: TableQueryResult, output: Output): string[] | undefined {
  const [label, figure] = columns
  if (label === undefined || figure === undefined || columns.length !== 2 || rows.length < 2 || rows.length > MAX_BARS) return undefined
  if (!rows.every(([name, number]) => typeof name === 'string' && typeof number === 'number' && number >= 0)) return undefined
  const bars = rows.map(([name, number]) => ({ label: String(name), cells: [String(number)], value: Number(number) }))
  return formatChart([label, figure], bars, output)
}
