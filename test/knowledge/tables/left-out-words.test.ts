import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { askTables } from '../../../daemon/knowledge/tables/ask-tables.ts'
import type { TableStore } from '../../../daemon/knowledge/tables/table-store.ts'
import { formatComputations } from '../../../daemon/models/quoted-answers/format-computation.ts'
import { loadWeights } from '../../../daemon/tables/weights.ts'
import { openTables } from './open-tables.ts'

const test = suite('words that are left out, units and compounds')
const weights = loadWeights()
let file: TableStore
let remove: () => void

const DOCUMENTS = {
  'rides.tsv': [
    'Ride\tCourier\tDate\tDistance\tMins\tLeft over (pcs)\tWhere\tStatus',
    'R1\tAda Berg\t2026-03-02\t4.5 km\t20\t1\tNorth zone\tdelivered',
    'R2\tAda Berg\t2026-03-09\t6.0 km\t31\t0\tSouth zone\tfailed',
    'R3\tMilo Kern\t2026-03-11\t2.5 km\t12\t4\tSouth zone\tdelivered',
    'R4\tMilo Kern\t2026-04-01\t9.0 km\t55\t2\tHarbour zone\tdelivered',
    'R5\tSana Aziz\t2026-04-03\t3.0 km\t18\t0\tSouth zone\tfailed\n',
  ].join('\n'),
  'checkouts.json': JSON.stringify([
    { id: 1, reader: 'Ina Holt', branch: 'Mill Road', date: '2026-05-02', reply_h: 4, method: 'desk' },
    { id: 2, reader: 'Ina Holt', branch: 'Castle', date: '2026-05-04', reply_h: 10, method: 'app' },
    { id: 3, reader: 'Omar Said', branch: 'Mill Road', date: '2026-06-09', reply_h: 7, method: 'desk' },
  ]),
  'parties.csv': `Party,Host,Date,Pers.,Booked via,Status,Kind,Floor
P1,Kane,2026-02-03,8,phone,held,Weekday,Tiles on concrete
P2,Moss,2026-02-14,4,Walk-in,no-show,Weekend,Carpet
P3,Ferro,2026-03-07,12,phone,held,Weekend,Carpet
P4,Kane,2026-03-10,6,phone,cancelled,Weekday,Tiles on concrete
`,
  'halls.csv': `Hall,Size (m²),Insp. due,State
H1,120,2026-12-01,vacant
H2,80,2026-06-15,rented
H3,200,2027-01-10,vacant
`,
}

test.before(async () => {
  ;({ file, remove } = await openTables(DOCUMENTS))
})
test.after(() => remove())

const ask = (question: string) => askTables(question, [file], weights, undefined, new Date('2026-11-18T12:00:00')).computations

const ANSWERS: readonly (readonly [question: string, answer: string])[] = [
  // Units of headers and of values.
  ['How many kilometres did Ada Berg ride in March?', '10.5 km'],
  ['What is the total space in square metres?', '400'],
  ['How many pieces were left over in March?', '5'],
  ['How long did readers wait for a reply on average, in hours?', '7'],
  ['When is the inspection of H3 due?', '2027-01-10'],
  ['How many parties of eight or more guests were booked by phone?', '2'],
  // Compounds.
  ['How many check-outs did Mill Road have in May?', '1'],
  ['Who checked out most often?', 'Ina Holt'],
  ['How many walkins did we have in February?', '1'],
  ['How many parties had tiles laid on concrete?', '2'],
  ['How many parties ended up cancelled?', '1'],
  ['What is the average number of people per party?', '7.5'],
  ['How many phone-booked parties were held, counting weekend parties too?', '2'],
  // A kind of values names their column.
  ['Which zone had the most rides?', 'South zone'],
  ['In which zone was ride R4?', 'Harbour zone'],
  // Verbs that say no more than "is".
  ['How many parties turned out to be no-shows?', '1'],
  ['How many parties ended up being cancelled?', '1'],
]

for (const [question, answer] of ANSWERS)
  test(question, () => {
    const [computation] = ask(question)
    assert.is(computation?.values[0], answer, computation?.interpretation)
  })

const PROBABLE: readonly (readonly [question: string, answer: string, note: string])[] = [
  ['Which courier racked up the most minutes?', 'Milo Kern', '“racked” was left out.'],
  ['How many rides per zone are there, counting every one of them?', 'South zone', '“counting every one of them” was left out.'],
  ['How many rides failed, i.e. did not arrive?', '2', '“i.e. did not arrive” was left out.'],
  ['How many halls are vacant, in other words not rented?', '2', '“in other words not rented” was left out.'],
  ['What do hosts usually choose, which kind has the fewest cancelled parties?', 'Weekday', '“What do hosts usually choose” was left out.'],
  ['How many vacant halls does the charity have?', '2', '“charity” was left out.'],
]

for (const [question, answer, note] of PROBABLE)
  test(`${question} Probably`, () => {
    const computations = ask(question)
    assert.is(computations[0]?.values[0], answer, computations[0]?.interpretation)
    assert.match(computations[0]?.interpretation ?? '', note)
    assert.match(formatComputations(computations), /^Probably: /)
  })

test('words that say which rows are meant, or what is asked for, are not left out', () => {
  for (const question of [
    "What is Kane's phone number?",
    'What is the phone number of Ada Berg?',
    'Which halls have a projector?',
    'How many rides ended in the ditch?',
    'Which hosts left a bad review?',
    'How many parties had a cake?',
    'Which courier had the most accidents?',
    'Which courier damaged the most rides?',
    'How many guests came to the terrace?',
    'How many rides did Ada Berg have, not counting rainy ones?',
    'How many hours did Ina Holt work in May?',
  ])
    assert.equal(ask(question), [], question)
})

test('"none" is no answer to a question without some of its words', () => {
  assert.equal(ask('How many parties did the charity have in August?'), [])
  assert.equal(ask('How many parties did we have in August?')[0]?.values, ['0'])
})

test('an answer without a paraphrase must use what the paraphrase names', () => {
  assert.equal(ask('How many halls are gone, i.e. vacant with an inspection due before today?'), [])
})

test.run()
