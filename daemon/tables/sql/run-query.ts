/** Runs SQL of users and models over the tables of a source. The engine enforces the limits; no pattern looks at the text. */
import { CadreError } from '../../../src/contract/errors.ts'
import type { SqlDatabase, SqlValue } from '../typed-table.ts'

export interface QueryRows {
  columns: string[]
  rows: SqlValue[][]
  /** Whether there are more rows. */
  isCut: boolean
  /** The tables that were read. */
  tables: string[]
}

const MAX_RESULT_BYTES = 1024 * 1024
/** Of memory that SQLite may use for a query. */
const MAX_HEAP_BYTES = 128 * 1024 * 1024

/** libSQL has functions that read and write files, so that only known ones may be called. */
const FUNCTIONS = new Set(
  `abs avg ceil ceiling changes char coalesce concat concat_ws count cume_dist date datetime dense_rank first_value floor format glob
  group_concat hex ifnull iif instr julianday lag last_value lead length like ln log log10 log2 lower ltrim max min mod nth_value ntile
  nullif percent_rank pow power printf quote rank replace round row_number rtrim sign sqrt strftime string_agg substr substring sum time
  timediff total trim trunc typeof unicode unixepoch upper exp`.split(/\s+/),
)
/** Of the databases of a connection, the one that was opened. */
const MAIN_DATABASE = 0
const FUNCTION_OPCODES = new Set('Function Function0 PureFunc PureFunc0 AggStep AggStep0 AggStep1 AggValue AggFinal AggInverse'.split(' '))

interface Instruction {
  opcode: string
  p2: number
  p3: number
  p4: unknown
}

/** Only `tables` can be read. Throws a CadreError that says what is wrong with the query. */
export function runQuery(database: SqlDatabase, tables: readonly string[], sql: string, maxRows: number): QueryRows {
  database.prepare(`PRAGMA hard_heap_limit = ${MAX_HEAP_BYTES}`).all()
  // As a subquery, only a SELECT is valid. A second statement would not be run.
  const select = `SELECT * FROM (\n${sql.replace(/[\s;]+$/, '')}\n) LIMIT ${maxRows + 1}`
  try {
    const used = checkProgram(database.prepare(`EXPLAIN ${select}`).all() as Instruction[], findRoots(database, tables))
    const statement = database.prepare(select)
    const columns = statement.columns().map(({ name }) => name)
    const rows: SqlValue[][] = []
    let bytes = 0
    for (const row of statement.raw().iterate() as Iterable<unknown[]>) {
      const values = row.map(toValue)
      bytes += values.reduce<number>((sum, value) => sum + (typeof value === 'string' ? value.length : 8), 0)
      if (rows.length === maxRows || bytes > MAX_RESULT_BYTES) return { columns, rows, isCut: true, tables: used }
      rows.push(values)
    }
    return { columns, rows, isCut: false, tables: used }
  } catch (error) {
    if (error instanceof CadreError) throw error
    throw new CadreError('VALIDATION_ERROR', `The query cannot be run: ${(error as Error).message}.`, {
      hint: 'Write one SELECT over the tables of the source. To see them, run cadre knowledge tables list.',
    })
  }
}

/** Returns the tables by the pages with which they and their indexes start: programs name them by these. */
function findRoots(database: SqlDatabase, tables: readonly string[]): Map<number, string> {
  const rows = database.prepare('SELECT tbl_name AS name, rootpage FROM sqlite_master').all() as { name: string; rootpage: number }[]
  const names = new Set(tables)
  return new Map(rows.filter(({ name }) => names.has(name)).map(({ name, rootpage }) => [rootpage, name]))
}

/** Checks the program that SQLite compiled from the query, which names everything that it will use. Returns the tables. */
function checkProgram(program: readonly Instruction[], roots: ReadonlyMap<number, string>): string[] {
  const tables = new Set<string>()
  for (const { opcode, p2, p3, p4 } of program) {
    if (opcode === 'VOpen') throw createRefusal('virtual tables')
    if (opcode === 'OpenRead' || opcode === 'ReopenIdx') {
      const table = p3 === MAIN_DATABASE ? roots.get(p2) : undefined
      if (table === undefined) throw createRefusal('a table that is not one of the source')
      tables.add(table)
    }
    if (!FUNCTION_OPCODES.has(opcode)) continue
    const [name = ''] = String(p4).split('(')
    if (!FUNCTIONS.has(name.toLowerCase())) throw createRefusal(`the function ${name}`)
  }
  return [...tables]
}

const createRefusal = (what: string) =>
  new CadreError('VALIDATION_ERROR', `The query uses ${what}, which is not allowed.`, {
    hint: 'Use the functions of SQL for numbers, texts and dates.',
  })

function toValue(value: unknown): SqlValue {
  if (value === null || typeof value === 'string') return value
  if (typeof value === 'bigint') return Number(value)
  // A double holds 15 digits, so that 0.1 + 0.2 is 0.3.
  return typeof value !== 'number' ? null : Number.isInteger(value) ? value : Number(value.toPrecision(15))
}
