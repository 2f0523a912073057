import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { askTables } from '../../daemon/knowledge/tables/ask-tables.ts'
import type { TableStore } from '../../daemon/knowledge/tables/table-store.ts'
import { loadWeights } from '../../daemon/tables/weights.ts'
import { openTables } from '../knowledge/tables/open-tables.ts'

const test = suite('questions for yes or no over tables')
const weights = loadWeights()
let file: TableStore
let remove: () => void

const DOCUMENTS = {
  'orders.csv': `Order,Date,Client,Goods,Total,Status,Packed by
O-1,2026-01-05,Ludo,Paper,120.50,paid,Rita
O-2,2026-01-19,Ludo,Ink,80.00,paid,Rita
O-3,2026-02-02,Brix,Paper,640.00,overdue,Sven
O-4,2026-02-11,Brix,Toner,75.25,paid,Rita
O-5,2026-03-03,Nova,Ink,310.00,open,Rita
O-6,2026-03-09,Nova,Toner,95.00,overdue,Sven
`,
  'tools.csv': `Tool,Place,Price,Guarantee until,Quantity
Drill,Cellar,89.00,2024-05-01,1
Saw,Cellar,45.00,2027-02-01,2
Ladder,Garage,150.00,,1
`,
}

test.before(async () => {
  ;({ file, remove } = await openTables(DOCUMENTS))
})
test.after(() => remove())

const ask = (question: string) => askTables(question, [file], weights, undefined, new Date(2026, 10, 19)).computations

for (const [question, verdict, counted] of [
  ['Are all orders paid?', 'no', '3 of 6 where Status is paid'],
  ['Is every order of Ludo paid?', 'yes', 'where Client is Ludo: 2 of 2'],
  ['Has Ludo paid everything?', 'yes', 'where Client is Ludo: 2 of 2'],
  ['Did Brix pay all orders?', 'no', 'where Client is Brix: 1 of 2'],
  ['Were all orders in January paid?', 'yes', '2 of 2'],
  ['Did Rita pack all ink orders?', 'yes', 'where Goods is Ink: 2 of 2'],
  ['Did Rita pack all orders?', 'no', '4 of 6'],
  ['Are all orders of Nova open or overdue?', 'yes', '2 of 2'],
  ['Is no order overdue?', 'no', '2 of 6'],
  ['Are none of the orders of Ludo overdue?', 'yes', '0 of 6'],
  ['Are there no open orders?', 'no', '1 of 6'],
  ['Is Brix the only client with overdue orders?', 'no', 'where Status is overdue: 1 of 2'],
  ['Is Nova the only client with open orders?', 'yes', 'where Status is open: 1 of 1'],
  ['Did only Sven pack toner?', 'no', '1 of 2'],
  ['Do all clients have overdue orders?', 'no', 'the values of Client in the rows of orders.csv: 2 of 3'],
  ['Does every client have a paid order?', 'no', '2 of 3'],
  ['Are most orders paid?', 'no', '3 of 6'],
  ['Have all guarantees expired?', 'no', 'where Guarantee until is not empty: 1 of 2'],
  ['Are there more than two paid orders?', 'yes', '3 of 6'],
  ['Are there at least 3 overdue orders?', 'no', '2 of 6'],
] as const)
  test(question, () => {
    const [computation, ...others] = ask(question)
    assert.equal([computation?.values, others], [[verdict], []])
    assert.ok(computation?.interpretation.includes(counted), computation?.interpretation)
    assert.not.ok(computation?.isUncertain)
  })

for (const question of [
  'Are almost all orders paid?',
  'Are many orders overdue?',
  'Did all clients pay all orders?',
  // Only one of two orders is paid.
  'Has Brix paid?',
  'Is Nova overdue?',
  'Is the average over 100?',
])
  test(`no number of rows says yes or no: ${question}`, () => assert.equal(ask(question), []))

for (const question of [
  'Do I have paper allergies?',
  'Do we have ink insurance?',
  'Is there toner insurance?',
  'Is Rita married?',
  'Is the ladder expensive?',
  'Does the drill work?',
  'Does the garage have a window?',
])
  test(`a word that names nothing makes no yes: ${question}`, () => assert.equal(ask(question), []))

for (const [question, verdict] of [
  ['Is O-3 paid?', 'no'],
  ['Does Brix have overdue orders?', 'yes'],
  ['Is there an order over 600 euros?', 'yes'],
  ['Did Rita pack O-1?', 'yes'],
  ['Is there a drill in the garage?', 'no'],
] as const)
  test(`every word is matched: ${question}`, () => assert.equal(ask(question)[0]?.values, [verdict]))

test('the rows shown with a no are those that are otherwise', () => {
  const [computation] = ask('Are all orders of Brix paid?')
  assert.equal(
    computation?.rowsUsed.map((row) => row[1]),
    ['O-3'],
  )
})

test.run()
