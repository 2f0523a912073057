import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { askTables } from '../../../daemon/knowledge/tables/ask-tables.ts'
import type { TableStore } from '../../../daemon/knowledge/tables/table-store.ts'
import { TableWordCache } from '../../../daemon/knowledge/tables/table-words.ts'
import { loadWeights } from '../../../daemon/tables/weights.ts'
import { openTables } from './open-tables.ts'

const test = suite('questions in the words of owners')
const weights = loadWeights()
let file: TableStore
let remove: () => void

const DOCUMENTS = {
  'groomings.csv': `Job No,Cust,Dog,Groomer,Brought in,Collected,Hrs,Price (€),Status,Bite?
G1,Wren Hall,Poodle,Mia,2026-01-05,2026-01-06,2,60.50,Done,no
G2,Otto Beck,Terrier,Jon,2026-01-20,2026-01-22,1.5,40.00,Done,yes
G3,Wren Hall,Poodle,Mia,2026-02-03,2026-02-03,2.5,70.00,Done,no
G4,Sia Moran,Collie,Mia,2026-02-11,,,,Cancelled,no
G5,Otto Beck,Terrier,Jon,2026-03-02,,1,35.00,Waiting,no
`,
  'bills.csv': `inv_no,cust,inv_date,amt_eur,paid_on
B-1,Wren Hall,2026-01-06,60.50,2026-01-09
B-2,Otto Beck,2026-01-22,40.00,
B-3,Wren Hall,2026-02-03,70.00,
B-4,Sia Moran,2026-02-12,90.00,2026-03-01
B-5,Wren Hall,2026-02-27,5.00,
`,
  'shelf goods.csv': `Item,Vendor,On hand,Reorder at,Cost each (€),Asked for,Came
Shampoo,Fellnase,4,6,3.50,2026-01-02,2026-01-05
Brush,Fellnase,10,5,8.00,2026-01-02,2026-01-09
Bow,Ribbon & Co,0,2,0.75,2026-02-01,
`,
  'crew.csv': `Name,Role,Hired,Pay/hr (€),Last day
Mia,Groomer,2019-04-01,21.50,
Jon,Groomer,2022-06-15,19.00,
Ada,Trainee,2024-01-10,13.00,2026-02-28
Bea,Trainee,2023-01-10,12.00,2025-08-31
`,
  'training-hours.csv': `Day,Trainer,Pup,Hrs,Held in park
2026-02-02,Dr. Ines Holt,Rex,1.5,yes
2026-02-09,Dr. Paul Marek,Rex,2,no
2026-03-02,Dr. Ines Holt,Lola,1,no
2026-03-09,Dr. Ines Holt,Lola,2,no
`,
  'kennels.csv': `Kennel,Rented by,Size,Out since,Returned,Fee per month (EUR)
K1,Otto Beck,small,2026-01-01,,30
K2,Sia Moran,large,2026-01-15,2026-03-01,25
K3,Wren Hall,large,2026-02-01,,20
`,
}

test.before(async () => {
  ;({ file, remove } = await openTables(DOCUMENTS))
})
test.after(() => remove())

const ask = (question: string) => askTables(question, [file], weights, new TableWordCache(), new Date('2026-06-01'))

for (const [question, expected, interpretation] of [
  // Verbs that ask for money.
  ['How much have we made from poodles?', ['€130.50'], /Added up Price/],
  ['How much did we take in from terriers?', ['€75'], /Added up Price/],
  ['What did we bill per month?', ['January 2026', 'February 2026'], /added up amt_eur/],
  ['Did we bill more in January or in February?', ['February'], /Added up amt_eur/],
  ['Who makes more an hour, Mia or Jon?', ['Mia'], /Pay\/hr/],
  ['What do we take in per month from kennels that have not come back?', ['50 EUR'], /Fee per month .* Returned is empty/],
  // States.
  ['How many completed groomings did Mia do?', ['2'], /Status is Done/],
  ['Who owes us the most?', ['Wren Hall'], /paid_on is empty by cust and added up amt_eur/],
  ['How much money do customers still owe us?', ['115 EUR'], /paid_on is empty/],
  ['How many bills from February were settled?', ['1'], /paid_on is not empty/],
  ['How many people quit in 2026?', ['1'], /Last day is in 2026/],
  ['How many kennels are out on rental right now?', ['2'], /Returned is empty/],
  ['Which items have fallen below the reorder level?', ['Shampoo', 'Bow'], /On hand is less than Reorder at/],
  ['What percent of our groomings led to a bite?', ['20%'], /Bite\? is yes/],
  ['How many groomings has Jon finished?', ['1'], /Status is Done|Collected is not empty/],
  ['Which groomer earned the most money?', ['Mia'], /added up Price/],
  // Units are columns.
  ['How many hours did Mia spend on poodles?', ['4.5'], /Added up Hrs/],
  ['How many hours does a terrier take on average?', ['1.25'], /Averaged Hrs/],
  ['How many hours did each trainer teach?', ['Dr. Ines Holt', 'Dr. Paul Marek'], /by Trainer and added up Hrs/],
  // A title before a name is no value.
  ['How many hours did Dr. Holt train Lola?', ['3'], /Trainer is Dr\. Ines Holt/],
  ['What percentage of training was held in the park?', ['25%'], /of the rows of training-hours\.csv\.$/],
  // Quantities with unit prices.
  ['What is everything on hand worth at cost?', ['€94'], /On hand × Cost each/],
  // Dates.
  ['On average, how many days does it take until a bill is paid?', ['10 days'], /days from inv_date to paid_on/],
  ['When did Otto Beck last have a grooming?', ['2026-03-02'], /Brought in/],
  ['Which groomer got the most jobs this year?', ['Mia'], /Brought in is in 2026/],
  ['Who was the very first to be hired?', ['Mia'], /smallest Hired/],
] as const)
  test(question, () => {
    const [computation] = ask(question).computations
    assert.equal(computation?.values, [...expected])
    assert.match(computation?.interpretation ?? '', interpretation)
  })

for (const question of [
  'How many kilometres did Jon drive?',
  'How many sick days did Mia take?',
  'How many collies did we sell in February?',
  'How many groomings are out?',
  'How many people were at the kennels in February?',
  'What is our tip rate?',
])
  test(`no table says: ${question}`, () => assert.equal(ask(question).computations, []))

test('a row of a person is no answer to a question for something that no column has', () => {
  const { computations, problem } = ask("What is Wren Hall's phone number?")
  assert.equal(computations, [])
  assert.match(problem?.text ?? '', 'did not understand "phone"')
})

test.run()
