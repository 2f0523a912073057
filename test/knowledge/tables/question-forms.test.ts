import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { askTables } from '../../../daemon/knowledge/tables/ask-tables.ts'
import type { TableStore } from '../../../daemon/knowledge/tables/table-store.ts'
import { loadWeights } from '../../../daemon/tables/weights.ts'
import { openTables } from './open-tables.ts'

const test = suite('forms of questions over tables')
const weights = loadWeights()
let file: TableStore
let remove: () => void

const DOCUMENTS = {
  'rentals.csv': `Rental No,Tool,Customer,Start Date,Due Date,Return Date,Days,Deposit,Total
R1,Drill,Huber,2025-01-06,2025-01-10,2025-01-10,4,20.00,48.00
R2,Mixer,Kranz,2025-01-13,2025-01-20,2025-01-22,7,50.00,210.50
R3,Drill,Huber,2025-02-03,2025-02-05,2025-02-04,2,20.00,24.00
R4,Saw,Ottmar,2025-02-10,2025-02-22,,12,30.00,180.00
R5,Mixer,Huber,2025-02-17,2025-02-18,2025-02-21,1,50.00,30.50
R6,Drill,Kranz,2025-03-03,2025-03-17,,14,20.00,168.00
`,
  'stock.csv': `Item,Category,On Hand,Reorder Level,Unit Cost,Supplier
Hose,Plumbing,4,10,2.50,Rohr AG
Valve,Plumbing,25,10,7.00,
Cable,Electrical,8,8,1.20,Elektra
Socket,Electrical,3,5,3.10,Elektra
`,
  'staff.csv': `Name,Team,Salary,Hire Date,Remote
Ada,Sales,1000,2019-05-01,yes
Ben,Sales,2000,2012-03-01,no
Cem,Finance,4000,2015-09-01,yes
Dee,Finance,6000,2021-01-01,no
`,
}

test.before(async () => {
  ;({ file, remove } = await openTables(DOCUMENTS))
})
test.after(() => remove())

const ask = (question: string) => askTables(question, [file], weights).computations

for (const [question, ...expected] of [
  ['Which items are below their reorder level?', 'Hose', 'Socket'],
  ['How many rentals were returned late?', '2'],
  ['Which rentals have not been returned yet?', 'R4', 'R6'],
  ['Which rentals are still out?', 'R4', 'R6'],
  ["List the items that don't have a supplier", 'Valve'],
  ['What was the second most expensive rental?', 'R4'],
  ['How many customers rented at least twice?', '2'],
  ['Which customers have more than 2 rentals?', 'Huber'],
  ['Who is our biggest customer?', 'Kranz'],
  ['On which weekday do most rentals start?', 'Monday'],
  ['How many rentals started in Q1?', '6'],
  ['How many rentals started on or after 10 February 2025?', '3'],
  ['How many rentals started no later than 10 February 2025?', '4'],
  ['What is the difference in average salary between Sales and Finance?', '3500'],
  ['Is the average salary higher in Sales or Finance?', 'Finance'],
  ['Who has worked here the longest?', 'Ben'],
  ['How much did we earn from Kranz?', '378.5'],
] as const)
  test(question, () => assert.equal(ask(question)[0]?.values.toSorted(), [...expected]))

test('two groups have a row for each pair', () => {
  const [computation] = ask('Show total rental income by customer and tool')
  assert.equal(computation?.resultHeader, ['Customer', 'Tool', 'Total (sum)'])
  assert.equal(computation?.result[0], ['Huber', 'Drill', 72])
})

test('two values are compared with a number each', () => {
  assert.equal(ask('What is the average salary in Sales vs Finance?')[0]?.result, [
    ['Sales', 1500],
    ['Finance', 5000],
  ])
})

test('a difference says which number is larger', () => {
  assert.is(
    ask('How many more rentals did Kranz have than Huber?')[0]?.interpretation,
    'Counted the rows of rentals.csv where Customer is Kranz (2), and where Customer is Huber (3), and subtracted: the second is larger.',
  )
})

for (const question of [
  'When does the drill insurance run out?',
  'Which items are not certified?',
  'How many drill bits did the workshop sharpen?',
  'Who is the youngest customer?',
])
  test(`no word is ignored: ${question}`, () => assert.equal(ask(question), []))

test.run()
