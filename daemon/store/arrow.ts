/** Converts rows to and from Arrow tables. Passing objects to LanceDB is three times slower. */
import { createRequire } from 'node:module'
import type { Data, Vector } from 'apache-arrow'

type ColumnType = 'text' | 'integer' | 'vector'
export type Columns = Record<string, ColumnType>
export type PassageRow = Record<string, string | number | Float32Array>

type Arrow = typeof import('apache-arrow')

/** Maximum UTF-8 bytes per UTF-16 code unit. */
const MAX_BYTES_PER_CHARACTER = 3

/** LanceDB requires its own CommonJS copy of Arrow; tables from another copy are silently treated as empty. */
const require = createRequire(import.meta.url)

/**
 * Fills Arrow's buffers directly: its builders take ten times as long and would block the event loop for a tenth of a second
 * per book.
 */
export function toArrowTable(columns: Columns, rows: readonly PassageRow[]): object {
  const arrow = require('apache-arrow') as Arrow
  const filled = Object.entries(columns).map(([name, type]): [string, Vector] => {
    const values = rows.map((row) => row[name])
    if (type === 'text') return [name, createTextColumn(arrow, values as string[])]
    if (type === 'integer') return [name, createIntegerColumn(arrow, values as number[])]
    return [name, createVectorColumn(arrow, values as Float32Array[])]
  })
  return new arrow.Table(Object.fromEntries(filled))
}

function createTextColumn(arrow: Arrow, texts: readonly string[]): Vector {
  const valueOffsets = new Int32Array(texts.length + 1)
  const room = Buffer.allocUnsafeSlow(texts.reduce((sum, text) => sum + MAX_BYTES_PER_CHARACTER * text.length, 0))
  let end = 0
  texts.forEach((text, row) => {
    end += room.write(text, end)
    valueOffsets[row + 1] = end
  })
  const data = room.subarray(0, end)
  return arrow.makeVector(arrow.makeData({ type: new arrow.Utf8(), length: texts.length, nullCount: 0, valueOffsets, data }))
}

function createIntegerColumn(arrow: Arrow, values: readonly number[]): Vector {
  return arrow.makeVector(arrow.makeData({ type: new arrow.Int32(), length: values.length, nullCount: 0, data: Int32Array.from(values) }))
}

function createVectorColumn(arrow: Arrow, vectors: readonly Float32Array[]): Vector {
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

export function toRows(result: {
  schema: { fields: { name: string }[] }
  numRows: number
  getChild(name: string): { get(row: number): unknown } | null
}): PassageRow[] {
  const columns = result.schema.fields.map(({ name }) => ({ name, values: result.getChild(name) }))
  return Array.from({ length: result.numRows }, (_, row) =>
    Object.fromEntries(columns.map(({ name, values }) => [name, values?.get(row) as string])),
  )
}
