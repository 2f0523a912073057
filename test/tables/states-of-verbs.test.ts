import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { askTables } from '../../daemon/knowledge/tables/ask-tables.ts'
import type { TableStore } from '../../daemon/knowledge/tables/table-store.ts'
import { loadWeights } from '../../daemon/tables/weights.ts'
import { openTables } from '../knowledge/tables/open-tables.ts'

const test = suite('verbs of questions over tables that say in which state rows are')
const weights = loadWeights()
let file: TableStore
let remove: () => void

const DOCUMENTS = {
  'bills.csv': `Bill,Date,Client,Goods,Total,Status
B-1,2026-01-05,Ludo,Paper,120.50,paid
B-2,2026-01-19,Ludo,Ink,80.00,open
B-3,2026-02-02,Brix,Paper,640.00,overdue
B-4,2026-02-11,Brix,Ink,75.25,paid
B-5,2026-04-11,Brix,Ink,30.00,open
`,
  'parcels.csv': `Parcel,Town,Weight (kg),State
P1,Kiel,12.5,delivered
P2,Bonn,3.0,shipped
P3,Kiel,7.5,returned
P4,Bonn,1.5,cancelled
`,
}

test.before(async () => {
  ;({ file, remove } = await openTables(DOCUMENTS))
})
test.after(() => remove())

const ask = (question: string) => askTables(question, [file], weights, undefined, new Date(2026, 10, 19)).computations[0]?.values

for (const [question, ...expected] of [
  ['How much did Ludo pay?', '120.50'],
  ['How much did Brix pay for ink?', '75.25'],
  ['How many bills did Ludo pay?', '1'],
  ['Which bills did Brix pay?', 'B-4'],
  ['Which bills did Brix not pay?', 'B-3', 'B-5'],
  ['When did Brix last pay?', '2026-02-11'],
  ['How many parcels did we deliver?', '1'],
  ['Which parcels did we cancel?', 'P4'],
  ['Which parcels did Kiel return?', 'P3'],
] as const)
  test(question, () => assert.equal(ask(question), [...expected]))

test.run()
