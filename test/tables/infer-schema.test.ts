import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { writeSql } from '../../daemon/tables/sql/write-sql.ts'
import { openTable } from './open-table.ts'

const test = suite('columns')

const open = (header: string[], ...rows: string[][]) => openTable('data.csv', header, rows)

/** Returns what is inferred from a table. */
function infer(header: string[], ...cells: string[][]) {
  const { table, sqlColumns, rows, close } = open(header, ...cells)
  close()
  return { ...table, sqlColumns, rows }
}

test('types are found from the values', () => {
  const { columns } = infer(
    ['Id', 'Price', 'Share', 'Paid', 'Day', 'Time', 'Note', 'Weight'],
    ['1', '$1,200.50', '12%', 'yes', '5 March 2024', '1:30', 'urgent', '12 kg'],
    ['2', '$3', '7.5%', 'no', '6 March 2024', '2:05', '', '7 kg (wet)'],
  )
  assert.equal(
    columns.map(({ type, unit, scale }) => [type, unit, scale]),
    [
      ['integer', '', 0],
      ['currency', '$', 2],
      ['percentage', '%', 1],
      ['boolean', '', 0],
      ['date', '', 0],
      ['duration', '', 0],
      ['text', '', 0],
      ['text', '', 0],
    ],
  )
  assert.is(columns[7]?.readings.number, 'weight_number', 'text with numbers has both')
})

test('the original text is kept, and empty cells are NULL', () => {
  const { sqlColumns, rows } = infer(['Price', 'Note'], ['1,200', 'a'], ['–', ''])
  assert.equal(
    sqlColumns.map(({ name }) => name),
    ['price', 'price_text', 'note'],
  )
  assert.equal(rows, [
    [1200, '1,200', 'a'],
    [null, '–', null],
  ])
})

test('rows of totals are left out', () => {
  assert.is(infer(['Item', 'Cost'], ['A', '1'], ['B', '2'], ['Total', '3']).rowCount, 2)
})

test('columns without a name, with the same name or with a keyword as name have SQL names', () => {
  const { sqlColumns } = infer(['', 'Name', 'name', 'Größe (cm)', 'rowid'], ['a', 'b', 'c', 'd', 'e'], ['f', 'g', 'h', 'i', 'j'])
  assert.equal(
    sqlColumns.map(({ name }) => name),
    ['column_1', 'name', 'name_2', 'große_cm', 'rowid_2'],
  )
})

test('a unit of three capitals is money only if it is the code of a currency', () => {
  const { columns } = infer(['Pay', 'Speed', 'Energy'], ['100 SEK', '1500 RPM', '20 KWH'], ['90 SEK', '1800 RPM', '31 KWH'])
  assert.equal(
    columns.map(({ type, unit }) => [type, unit]),
    [
      ['currency', 'SEK'],
      ['integer', 'RPM'],
      ['integer', 'KWH'],
    ],
  )
})

test('a document with decimal commas has points between thousands, in columns without decimals too', () => {
  const { columns, rows } = infer(
    ['Kunde', 'Menge', 'Betrag', 'Datum'],
    ['A', '1.500', '3.450,75 €', '19.02.2024'],
    ['B', '200', '89,90 €', '15.01.2024'],
  )
  assert.equal(
    columns.map(({ type, unit }) => [type, unit]),
    [
      ['text', ''],
      ['integer', ''],
      ['currency', '€'],
      ['date', ''],
    ],
  )
  assert.equal(
    rows.map((row) => [row[1], row[3]]),
    [
      [1500, 3450.75],
      [200, 89.9],
    ],
  )
})

test('groups with the same number are all the largest', () => {
  const { table, run, close } = open(['Item', 'Owner'], ['A', 'Ann'], ['B', 'Bob'], ['C', 'Ann'], ['D', 'Bob'], ['E', 'Cid'])
  const sql = writeSql(table, { conditions: [], operation: { kind: 'group', by: 1, aggregate: 'count', direction: 'max' } })
  assert.equal(run(sql), [
    ['Ann', 2],
    ['Bob', 2],
  ])
  const among = { kind: 'equals' as const, column: 1, reading: 'text' as const, values: ['Ann'] }
  const share = writeSql(table, { conditions: [among], operation: { kind: 'share', among: [] } })
  assert.equal(run(share), [[40]])
  close()
})

test('sums and averages of decimal numbers are exact', () => {
  const { table, run, close } = open(['Item', 'Price'], ['A', '0.1'], ['B', '0.2'], ['C', '1000000000.01'])
  const compute = (aggregate: 'sum' | 'average', values: string[]) => {
    const condition = { kind: 'equals' as const, column: 0, reading: 'text' as const, values }
    const sql = writeSql(table, { conditions: [condition], operation: { kind: 'aggregate', aggregate, column: 1 } })
    return run(sql)[0]
  }
  assert.equal(compute('sum', ['A', 'B']), [0.3])
  assert.equal(compute('average', ['A', 'B']), [0.15])
  assert.equal(compute('sum', ['A', 'B', 'C']), [1000000000.31])
  close()
})

test.run()
