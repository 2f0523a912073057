import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { askTables } from '../../../daemon/knowledge/tables/ask-tables.ts'
import type { TableStore } from '../../../daemon/knowledge/tables/table-store.ts'
import { TableWordCache } from '../../../daemon/knowledge/tables/table-words.ts'
import { loadWeights } from '../../../daemon/tables/weights.ts'
import { openTables } from './open-tables.ts'

const test = suite('states, periods and names of things in questions over tables')
const weights = loadWeights()
let file: TableStore
let remove: () => void

const DOCUMENTS = {
  'cheeses.csv': `Code,Cheese,Kind,In stock,Reorder level,Price (€),Best before
C1,Brie,Soft,4,10,9.50,2026-05-20
C2,Gouda,Hard,40,15,14.00,2026-09-01
C3,Cheddar,Hard,15,15,17.25,2026-12-01
C4,Ricotta,Soft,22,5,4.80,2026-07-10
C5,Pecorino,Hard,30,5,21.00,2027-02-01
`,
  'invoices.csv': `invoice_no,client,issued,due_date,paid_on,total_eur
N1,Hotel Rose,2025-11-04,2025-12-04,2025-12-01,120.50
N2,Bar Luna,2026-04-10,2026-05-10,,80.00
N3,Hotel Rose,2026-05-02,2026-06-02,,310.25
N4,Café Sol,2026-05-20,2026-06-20,2026-05-30,45.00
N5,Bar Luna,2026-05-28,2026-06-28,,60.00
`,
  'absences.csv': `Employee,Role,Leave type,From date,Days,Approved
Ann Bell,Driver,Sick,2026-01-05,3,yes
Ben Cole,Driver,Vacation,2026-03-02,10,yes
Cleo Dale,Packer,Vacation,2026-06-20,5,no
Ben Cole,Driver,Sick,2026-05-11,2,yes
Ann Bell,Driver,Vacation,2026-08-03,8,no
`,
  'trips.csv': `Trip,Date,Van,Driver,Diesel (l),Distance (km)
T1,2026-01-12,Blue van,Ann Bell,31,280
T2,2026-03-16,Red van,Ben Cole,22,190
T3,2026-04-20,Red van,Ben Cole,40,350
T4,2026-05-25,Blue van,Ann Bell,18,150
`,
}

test.before(async () => {
  ;({ file, remove } = await openTables(DOCUMENTS))
})
test.after(() => remove())

const ask = (question: string) => askTables(question, [file], weights, new TableWordCache(), new Date(2026, 5, 10))

for (const [question, expected, interpretation] of [
  // What is largest is named, with its amount and unit.
  ['What is our most expensive hard cheese?', [['Pecorino', '€21']], /largest Price/],
  ['Which cheese is the cheapest?', [['Ricotta', '€4.80']], /smallest Price/],
  ['What was our biggest invoice?', [['N3', '310.25 EUR']], /largest total_eur/],
  ['Which client brought in the most money?', [['Hotel Rose', '430.75 EUR']], /added up total_eur/],
  // The last time.
  ['When did we last send an invoice to Bar Luna?', [['2026-05-28']], /largest issued, of those where client is Bar Luna/],
  ['When was the last time Ben Cole drove the red van?', [['2026-04-20']], /largest Date/],
  // Stocks and dates that have been reached.
  ['Which cheeses are running low?', [['Brie'], ['Cheddar']], /In stock is at most Reorder level/],
  ['Which invoices are overdue?', [['N2'], ['N3']], /due_date is before 2026-06-10 and paid_on is empty/],
  ['Which cheeses have expired?', [['Brie']], /Best before is before 2026-06-10/],
  // Periods that depend on the day of the question.
  ['How many invoices did we send last month?', [['3']], /issued is in May 2026/],
  ['How much did we invoice last year?', [['120.50 EUR']], /issued is in 2025/],
  ['How many kilometres did we drive in spring?', [['690 km']], /Date is in March, April or May/],
  ['How many trips were there in the winter of 2025?', [['1']], /from 2025-12 and before 2026-03/],
  ['What was our best month?', [['May 2026', '415.25 EUR']], /month of issued and added up total_eur; took the group with the largest/],
  // People with a role, and what is added up.
  [
    'How many vacation days did each driver take?',
    [
      ['Ben Cole', '10'],
      ['Ann Bell', '8'],
    ],
    /by Employee and added up Days/,
  ],
  ['Which van burned the most diesel?', [['Red van', '62 l']], /added up Diesel/],
  // No rows.
  [
    'Which invoices did Café Sol get last year?',
    [],
    /client is Café Sol and issued is in 2025\. issued is from 2025-11-04 to 2026-05-28\./,
  ],
  ['How many trips did Ann Bell make in March?', [['0']], /Driver is Ann Bell/],
] as const)
  test(question, () => {
    const [computation] = ask(question).computations
    assert.equal(
      computation?.cells,
      expected.map((row) => [...row]),
    )
    assert.match(computation?.interpretation ?? '', interpretation)
  })

test('requests are rows, although a column has their first word', () => {
  const [computation] = ask('Which leave requests are still pending?').computations
  assert.match(computation?.interpretation ?? '', /^(?:Listed the rows|Looked up Employee).* Approved is no/)
})

for (const question of ['Which client complained the most?', 'Which vans are running low?', 'Who returned the most cheeses?'])
  test(`no table says: ${question}`, () => assert.equal(ask(question).computations, []))

test.run()
