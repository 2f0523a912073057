import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { askTables } from '../../../daemon/knowledge/tables/ask-tables.ts'
import type { TableStore } from '../../../daemon/knowledge/tables/table-store.ts'
import { loadWeights } from '../../../daemon/tables/weights.ts'
import { openTables } from './open-tables.ts'

const test = suite('ordinary questions over business tables')
const weights = loadWeights()

const STUDIO = {
  'calls.csv': `Call no,Client,Answered by,Topic,Received,Closed,Minutes Spent
C1,Moss Bakery,Ivo Lange,Printer,2026-01-04,2026-01-06,25
C2,Dune Travel,Hilde Krug,Login,2026-01-09,2026-01-09,15
C3,Moss Bakery,Ivo Lange,Login,2026-02-11,,40
C4,Quill Press,Hilde Krug,Printer,2026-03-02,2026-03-05,10
`,
  'productions.json': JSON.stringify([
    { ref: 'A1', company: 'Moss Bakery', town: 'Kiel', yearly_fee_eur: 240.5, decided_on: '2026-03-01' },
    { ref: 'A2', company: 'Dune Travel', town: 'Bonn', yearly_fee_eur: 900, decided_on: '2026-04-01' },
    { ref: 'A3', company: 'Quill Press', town: 'Kiel', yearly_fee_eur: 410, decided_on: '2026-04-20' },
  ]),
}

const KITCHEN = {
  'crew.csv': `Crew ID,Name,Area,Start Date,Monthly Wage (EUR)
K1,Ada Krol,Kitchen,2024-05-01,3100
K2,Ben Ott,Kitchen,2025-02-01,2800
K3,Cleo Rau,Bar,2023-09-15,2600
K4,Dan Voss,Kitchen,2022-01-10,3900
`,
  'workshops.csv': `Course,Venue,Starts on,Fee per place (EUR),Places
Knife skills,Old Mill,2026-04-02,80,12
Pastry,Quay Hall,2026-06-11,120,8
Wine basics,Old Mill,2026-09-30,95,20
`,
}

const DEPOT = {
  'parcels.csv': `Parcel ID,Depot,Weight (kg),Postage (EUR),Shipped on
P1,Kiel,12.5,8.20,2026-02-01
P2,Bonn,3.0,4.10,2026-02-03
P3,Kiel,7.5,6.00,2026-02-09
`,
  'tools.json': JSON.stringify([
    { Code: 'T1', Article: 'Bench Saw 800W', Kind: 'Saws', Pieces: 9, 'Unit Price': 210.5, Minimum: 4 },
    { Code: 'T2', Article: 'Hand Plane No 4', Kind: 'Planes', Pieces: 3, 'Unit Price': 84.2, Minimum: 5 },
    { Code: 'T3', Article: 'Pull Saw', Kind: 'Saws', Pieces: 40, 'Unit Price': 31.95, Minimum: 10 },
    { Code: 'T4', Article: 'Block Plane', Kind: 'Planes', Pieces: 12, 'Unit Price': 57.25, Minimum: 2 },
    { Code: 'T5', Article: 'Whetstone', Kind: 'Care', Pieces: 25, 'Unit Price': 1, Minimum: 6 },
    { Code: 'T6', Article: 'Oil', Kind: 'Care', Pieces: 30, 'Unit Price': 1.01, Minimum: 6 },
  ]),
  'bills.csv': `Bill no,Client,Campaign,Net Sum (EUR),Tax (EUR),Issued
B1,Moss Bakery,Spring,900.00,63.00,2026-01-05
B2,Dune Travel,Summer,700.00,133.00,2026-02-05
B3,Moss Bakery,Spring,100.00,19.00,2026-02-07
B4,Quill Press,Autumn,850.00,59.50,2026-03-01
`,
}

const open = async (documents: Readonly<Record<string, string>>) => {
  const { file, remove } = await openTables(documents)
  const ask = (question: string) => askTables(question, [file as TableStore], weights, undefined, new Date(2026, 10, 18))
  return { ask, remove }
}

for (const [documents, questions] of [
  [
    STUDIO,
    [
      ['How many minutes did Ivo spend altogether?', '65'],
      ['Which company pays the most per year?', 'Dune Travel'],
      ['Which company pays the most a year?', 'Dune Travel'],
      ['What towns do our producers come from?', 'Bonn', 'Kiel'],
    ],
  ],
  [
    KITCHEN,
    [
      ['Who are the top two earners in the kitchen?', 'Ada Krol', 'Dan Voss'],
      ['Which crew members earn less than 2,900?', 'Ben Ott', 'Cleo Rau'],
      ['Which workshop venues do we use?', 'Old Mill', 'Quay Hall'],
      ['Who was the latest to start?', 'Ben Ott'],
    ],
  ],
  [
    DEPOT,
    [
      ['What is the combined weight of all that we sent to Kiel?', '20'],
      ['Which article do we have the most of?', 'Pull Saw'],
      ['Which article do we have the least of?', 'Hand Plane No 4'],
      ['How much cheaper is the hand plane than the bench saw?', '126.3'],
      ['How much more does the bench saw cost than the hand plane?', '126.3'],
      ['What is the average price of a care article?', '1.01'],
      ['Which bill is the biggest?', 'B1'],
      ['What are our top 2 campaigns by net sum?', 'Autumn', 'Spring'],
    ],
  ],
] as const)
  for (const [question, ...expected] of questions)
    test(question, async () => {
      const { ask, remove } = await open(documents)
      const { computations } = ask(question)
      remove()
      assert.is(computations.length, 1, 'there is one reading')
      assert.equal(computations[0]?.values.toSorted(), [...expected], computations[0]?.interpretation)
    })

for (const [documents, question] of [
  [STUDIO, 'Which client has been with us the longest?'],
  [KITCHEN, 'How much did we earn?'],
  [DEPOT, 'What was the average discount on bills for Moss Bakery?'],
] as const)
  test(`${question} is not answered, and no other name is taken for it`, async () => {
    const { ask, remove } = await open(documents)
    const { computations, unclear } = ask(question)
    remove()
    assert.equal(computations, [])
    assert.is(unclear, undefined)
  })

test.run()
