import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { askTables } from '../../../daemon/knowledge/tables/ask-tables.ts'
import type { TableStore } from '../../../daemon/knowledge/tables/table-store.ts'
import { loadWeights } from '../../../daemon/tables/weights.ts'
import { openTables } from './open-tables.ts'

const test = suite('questions over tables in the words of colleagues')
const weights = loadWeights()
let file: TableStore
let remove: () => void

const DOCUMENTS = {
  'flats.csv': `flat,tenant,rent_eur,lease_start,status
Top,Ada Holt,700,2022-03-01,let
Garden,Bo Iyer,650,2024-05-01,let
Attic,,500,,vacant
`,
  'rent_payments.csv': `payment,tenant,due,paid_on,amount,method,status
P1,Ada Holt,2026-07-01,2026-07-02,700,card,paid
P2,Bo Iyer,2026-07-01,2026-08-03,650,transfer,paid
P3,Ada Holt,2026-08-01,2026-08-02,700,transfer,paid
P4,Bo Iyer,2026-08-01,,650,,open
P5,Ada Holt,2026-09-01,,700,,open
`,
  'cars.csv': `plate,class,branch,daily_rate,bought
KA 1,van,Harbour,40,2021-01-05
KA 2,van,Airport,45,2022-01-05
KA 3,compact,Airport,30,2019-01-05
`,
  'tickets.csv': `ticket,opened,client,assigned_to,status,closed
T1,2026-03-02,Acme,Uma Vance,closed,2026-03-04
T2,2026-03-09,Acme,Vic Wolf,closed,2026-03-10
T3,2026-04-01,Brent,Vic Wolf,closed,2026-04-03
T4,2026-04-20,Acme,Uma Vance,open,
`,
  'patients.csv': `patient,born,first_visit,town
Ivo Thiel,1941-12-13,2026-05-01,Ulm
Jo Ilic,1980-02-01,2026-01-07,Bonn
`,
  'sales.csv': `sold_on,article,cashier,pieces,amount_eur,price_per_piece
2026-05-01,Postcard,Nora,2,3.00,1.50
2026-05-02,Mug,Piet,1,9.00,9.00
2026-06-02,Postcard,Nora,3,4.50,1.50
`,
  'shifts.csv': `day,person,role,hrs_worked,ot_hrs
2026-07-01,Cem,cook,6,2
2026-07-02,Dot,waiter,8,
2026-07-03,Dot,waiter,5,
2026-07-04,Cem,cook,4,1
`,
}

test.before(async () => {
  ;({ file, remove } = await openTables(DOCUMENTS))
})
test.after(() => remove())

for (const [question, values, interpretation] of [
  // A header may be named by separate words.
  ['Who worked the most hours?', 'Dot', 'added up hrs_worked'],
  ['How many hours did Cem work in July?', '10', 'Added up hrs_worked'],
  // What came in was paid then; what is owed was due then.
  ['How much rent came in by transfer in August?', '1350', 'Added up amount in the rows of rent_payments.csv … paid_on is in August'],
  [
    'What is the total monthly rent of the flats that are let?',
    '1,350 EUR',
    'Added up rent_eur in the rows of flats.csv where status is let',
  ],
  // What something is called in a column, although it also means the rows.
  ['How many vans do we have at the airport?', '1', 'class is van'],
  // People by what they do.
  ['Who closed the most tickets?', 'Vic Wolf', 'by assigned_to'],
  ['Which client raises the most tickets with us?', 'Acme', 'by client and counted them'],
  ['New tickets per month?', 'March 2026, April 2026', 'by the month of opened'],
  ['Who is our oldest patient?', 'Ivo Thiel', 'smallest born'],
  ['Where do we have the car KA 1?', 'Harbour', 'Looked up branch'],
  // Several amounts are added up, and a currency asks for an amount.
  ['What did the postcards sell for?', '7.50 EUR', 'Added up amount_eur'],
  ['How much money is still outstanding from tenants?', '1350', 'Added up amount in the rows of rent_payments.csv where'],
  ['Sales in euros per cashier?', 'Piet, Nora', 'by cashier and added up amount_eur'],
] as const)
  test(question, () => {
    const { computations } = askTables(question, [file], weights, undefined, new Date('2026-11-18'))
    assert.is(computations[0]?.values.join(', '), values, JSON.stringify(computations.map((each) => each.interpretation)))
    for (const part of interpretation.split(' … ')) assert.match(computations[0]?.interpretation ?? '', part)
  })

for (const question of [
  'When does the lease of Ada Holt end?',
  'When did T2 get there?',
  'How many accidents did we add up in euros?',
  'What does van mean?',
  'How often do I have to close tickets?',
])
  test(`refused: ${question}`, () => assert.equal(askTables(question, [file], weights).computations, []))

test.run()
