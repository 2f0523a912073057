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
1,Ada Holt,700,2022-03-01,let
2,Bo Iyer,650,2024-05-01,let
3,,500,,vacant
`,
  'rent_payments.csv': `payment,tenant,due,paid_on,amount,method,status
P1,Ada Holt,2026-07-01,2026-07-02,700,card,paid
P2,Bo Iyer,2026-07-01,2026-08-03,650,transfer,paid
P3,Ada Holt,2026-08-01,2026-08-02,700,transfer,paid
P4,Bo Iyer,2026-08-01,,650,,open
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
] as const)
  test(question, () => {
    const { computations } = askTables(question, [file], weights, undefined, new Date('2026-11-18'))
    assert.is(computations[0]?.values.join(', '), values, JSON.stringify(computations.map((each) => each.interpretation)))
    for (const part of interpretation.split(' … ')) assert.match(computations[0]?.interpretation ?? '', part)
  })

for (const question of ['When does the lease of Ada Holt end?'])
  test(`refused: ${question}`, () => assert.equal(askTables(question, [file], weights).computations, []))

test.run()
