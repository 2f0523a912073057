/** Rows as Arrow, which is how LanceDB takes and gives them: objects would be three times slower. */
import { createRequire } from 'node:module'
import type { Data, Vector } from 'apache-arrow'

export type ColumnType = 'text' | 'integer' | 'vector'
export type Columns = Record<string, ColumnType>
export type PassageRow = Record<string, string | number | Float32Array>

type Arrow = typeof import('apache-arrow')

/** LanceDB knows Arrow only as its own CommonJS copy; rows of another copy are silently taken for none. */
const require = createRequire(import.meta.url)

export function arrowTable(columns: Columns, rows: readonly PassageRow[]): object {
  const arrow = require('apache-arrow') as Arrow
  const filled = Object.entries(columns).map(([name, type]): [string, Vector] => {
    if (type === 'text')
      return [
        name,
        arrow.vectorFromArray(
          rows.map((row) => row[name] as string),
          new arrow.Utf8(),
        ),
      ]
    if (type === 'integer')
      return [
        name,
        arrow.vectorFromArray(
          rows.map((row) => row[name] as number),
          new arrow.Int32(),
        ),
      ]
    return [
      name,
      vectorColumn(
        arrow,
        rows.map((row) => row[name] as Float32Array),
      ),
    ]
  })
  return new arrow.Table(Object.fromEntries(filled))
}

function vectorColumn(arrow: Arrow, vectors: readonly Float32Array[]): Vector {
  const size = vectors[0]?.length ?? 0
  const values = new Float32Array(vectors.length * size)
  vectors.forEach((vector, row) => {
    values.set(vector, row * size)
  })
  const items = arrow.makeData({ type: new arrow.Float32(), length: values.length, data: values })
  const list = arrow.makeData({
    type: new arrow.FixedSizeList(size, new arrow.Field('item', new arrow.Float32(), true)),
    length: vectors.length,
    nullCount: 0,
    child: items,
  } as never) as Data
  return arrow.makeVector(list) as Vector
}

export function rowsOf(result: {
  schema: { fields: { name: string }[] }
  numRows: number
  getChild(name: string): { get(row: number): unknown } | null
}): PassageRow[] {
  const columns = result.schema.fields.map(({ name }) => ({ name, values: result.getChild(name) }))
  return Array.from({ length: result.numRows }, (_, row) => Object.fromEntries(columns.map(({ name, values }) => [name, values?.get(row) as string])))
}
