import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { askTables } from '../../../daemon/knowledge/tables/ask-tables.ts'
import type { TableStore } from '../../../daemon/knowledge/tables/table-store.ts'
import { loadWeights } from '../../../daemon/tables/weights.ts'
import { openTables } from './open-tables.ts'

const test = suite('words of questions over tables that must not be dropped')
const weights = loadWeights()
let file: TableStore
let remove: () => void

const DOCUMENTS = {
  'concerts.csv': `concert_id,band,date,hall,capacity,tickets_sold,revenue_eur,status,sound_manager
K1,Polar,2025-01-10,Cellar,80,60,900,played,Ines Falk
K2,Polar,2025-02-14,Cellar,80,80,1200,played,Jo Benning
K3,Nimbus,2025-02-20,Garden,200,150,3000,played,Ines Falk
K4,Nimbus,2025-03-02,Garden,200,90,1800,cancelled,Jo Benning
`,
  'donations.csv': `donation_no,donor,date,amount_eur,purpose
G-1,Mia Novak,2025-01-05,50,Roof
G-2,Leon Hale,2025-02-07,700,Roof
G-3,Mia Novak,2025-03-07,120,General
`,
  'rentals.csv': `rental_no,customer,bike,days,rental_fee,deposit,deposit_returned
R1,Ida Dahl,tandem,5,160,50,no
R2,Ben Novak,cargo bike,9,360,100,yes
R3,Ida Dahl,tandem,2,60,50,no
`,
  'repairs.csv': `Job No,Customer,Bike Type,Work,Parts Cost,Total Price,Paid
1,Corsi,road bike,full service,90.00,120.50,yes
2,Brandt,city bike,puncture,10.00,310.00,no
3,Novak,road bike,full service,30.00,80.50,no
`,
}

test.before(async () => {
  ;({ file, remove } = await openTables(DOCUMENTS))
})
test.after(() => remove())

const ask = (question: string) => askTables(question, [file], weights).computations

for (const [question, ...expected] of [
  ['How many days was the longest rental?', '9'],
  ['Which concerts were sold out?', 'K2'],
  ['How many deposits have not been returned?', '2'],
  ['What was the most expensive repair?', '2'],
  ['What is the average price of a full service?', '100.5'],
  ['Do we earn more on road bikes or city bikes?', 'city bike'],
  ['Who gave the biggest donation?', 'Leon Hale'],
  ['What was the biggest donation and who gave it?', 'Leon Hale'],
  ['What is the average number of tickets sold per concert in the Cellar?', '70'],
] as const)
  test(question, () => assert.equal(ask(question)[0]?.values, [...expected]))

for (const question of ['Which actor played Polar?', 'Who directed Polar?', 'How much do we pay Ines Falk per month?'])
  test(`no column answers: ${question}`, () => assert.equal(ask(question), []))

test('a condition that two words state is named once', () => {
  assert.is(
    ask('How much are customers still owing us for unpaid repairs?')[0]?.interpretation,
    'Added up Total Price in the rows of repairs.csv where Paid is no.',
  )
})

test.run()
