import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { askTables } from '../../../daemon/knowledge/tables/ask-tables.ts'
import type { TableStore } from '../../../daemon/knowledge/tables/table-store.ts'
import { formatComputations } from '../../../daemon/models/quoted-answers/format-computation.ts'
import { loadWeights } from '../../../daemon/tables/weights.ts'
import { openTables } from './open-tables.ts'

const test = suite('columns that questions over tables mean')
const weights = loadWeights()
let file: TableStore
let remove: () => void

const DOCUMENTS = {
  'parcels.csv': `parcel_no,sender,weight_kg,total_price,handed_in,delivered_on,paid_on,rider,district,note,size,insured
P1,Lund,2.50,12,2024-11-20,2024-11-24,2024-12-02,Ana Wu,Harbour,fragile,small,yes
P2,Moss,4.10,30,2025-01-10,2025-01-12,,Bo Iyer,Hill,,large,no
P3,Lund,1.00,9,2025-01-28,2025-02-04,2025-02-05,Ana Wu,Hill,late call,small,yes
P4,Reed,7.75,55,2025-02-11,,,Bo Iyer,Harbour,fragile,large,no
P5,Moss,3.00,18,2025-02-20,2025-02-22,2025-03-01,Cy Orr,Harbour,,small,no
`,
  'stays.csv': `stay,visitor,arrived,check_out,visitors,state
S1,Ida Roth,2025-05-02,2025-05-05,2,left
S2,Ola Berg,2025-05-30,2025-06-03,3,left
S3,Ida Roth,2025-06-10,,1,staying
`,
  'bills.csv': `bill,client,amount,state
A-1,Corvo,100,paid
A-2,Corvo,40,open
A-3,Dahlia,70,open
A-4,Dahlia,10,paid
`,
  'walks.csv': `walk,leader,held_on,capacity,attendance
Fen,Ada Holt,2025-04-01,12,7
Fen,Bo Iyer,2025-05-01,12,12
Ridge,Ada Holt,2025-05-11,8,3
`,
  'keepers.csv': `keeper,age,wage
Cem,24,21
Dot,31,28
Eli,45,33
`,
  'marks.csv': `pupil,subject,mark,tutor
Ann,Art,50,Ms Hay
Ben,Art,70,Ms Hay
Ann,Music,40,Mr Low
Ben,Music,90,Mr Low
Cat,Music,95,Mr Low
`,
}

test.before(async () => {
  ;({ file, remove } = await openTables(DOCUMENTS))
})
test.after(() => remove())

const ask = (question: string) => askTables(question, [file], weights)

for (const [question, expected, interpretation] of [
  // Dates: when something happened, not when it was delivered or paid, unless the question says so.
  ['How many parcels did we get in February 2025?', ['2'], /handed_in is/],
  ['How many parcels were delivered in February 2025?', ['2'], /delivered_on is/],
  ['How much did we earn per month in 2025?', ['January 2025', 'February 2025'], /month of handed_in and added up total_price/],
  ['Did we earn more in 2024 or in 2025?', ['2025'], /handed_in is in 2024/],
  // Days between two dates.
  ['How many days are there between handing in and delivery of parcel P3?', ['7 days'], /days from handed_in to delivered_on/],
  ['How long does a parcel take on average until it is delivered?', ['3.75 days'], /Averaged days from handed_in to delivered_on/],
  ['Which parcel took the longest to deliver?', ['P3'], /largest days from handed_in to delivered_on/],
  // Words that state a condition, and words that add nothing.
  ['How much does Dahlia owe us?', ['70'], /client is Dahlia and state is open/],
  ['How many parcels are marked fragile?', ['2'], /note is fragile/],
  ['Which parcels are still waiting for payment?', ['P2', 'P4'], /paid_on is empty/],
  ['How many parcels were booked per sender?', ['Lund', 'Moss', 'Reed'], /by sender and counted/],
  // Words for dates, and percentages in plain words.
  ['How many parcels were paid after they were delivered?', ['3'], /paid_on is later than delivered_on/],
  ['What percentage of parcels is insured?', ['40%'], /^Computed the percentage where insured is yes, of the rows of parcels\.csv\.$/],
  // Numbers of people, ages and times.
  ['How many people came to the Fen walks?', ['19'], /Added up attendance/],
  ['Which walks were full?', ['Fen'], /attendance is at least capacity/],
  ['How many keepers are under 30?', ['1'], /age is less than 30/],
  ['Which parcel was handed in most recently?', ['P5'], /largest handed_in/],
  // Names, not numbers of people.
  ['How many different visitors have stayed?', ['2'], /different values of visitor /],
] as const)
  test(question, () => {
    const [computation] = ask(question).computations
    assert.equal(computation?.values, [...expected])
    assert.match(computation?.interpretation ?? '', interpretation)
  })

for (const [question, unknown] of [
  ['Which bicycle carried parcel P2?', 'bicycle'],
  ['What is the email address of Ana Wu?', 'email'],
  ['Which depot is Lund in?', 'depot'],
  ['Who trained Bo Iyer?', 'trained'],
  ['Which warden looks after the Hill?', 'warden'],
] as const)
  test(`what no column has is not answered: ${question}`, () => {
    const { computations, problem } = ask(question)
    assert.equal(computations, [])
    assert.match(problem?.text ?? '', `did not understand "${unknown}"`)
  })

for (const question of [
  'How many parcels are older than three weeks?',
  'How many parcels per rack do we have?',
  'Which harbourer delivered the most parcels?',
])
  test(`a word that no column has is not dropped: ${question}`, () => assert.equal(ask(question).computations, []))

test('"who" does not ask for the names of things', async () => {
  const levels = await openTables({ 'levels.csv': 'level,meaning\nS1,all are affected\nS2,one is affected\nS3,nobody is affected\n' })
  try {
    for (const question of ['Who owns the levels?', 'Who runs the levels?', 'Who made the levels?'])
      assert.equal(askTables(question, [levels.file], weights).computations, [], question)
  } finally {
    levels.remove()
  }
})

test('groups are sorted by their number, and months are written in words', () => {
  const text = formatComputations(ask('How much did each sender pay?').computations)
  assert.match(text, /\| Reed \| 55 \|\n\| Moss \| 48 \|\n\| Lund \| 21 \|/)
  assert.match(formatComputations(ask('How many parcels did we get per month?').computations), /\| November 2024 \| 1 \|/)
})

test('a "no" shows the row that says so', () => {
  const [computation] = ask('Is the parcel P4 insured?').computations
  assert.equal(computation?.values, ['no'])
  assert.equal(
    computation?.rowsUsed.map(([, parcel]) => parcel),
    ['P4'],
  )
})

test('the rows that are shown have the columns that were used, and are those of the result', () => {
  const [group] = ask('Which district had the most parcels?').computations
  assert.equal(
    group?.rowsUsed.map(([, parcel]) => parcel),
    ['P1', 'P4', 'P5'],
  )
  const text = formatComputations(ask('How many parcels are insured?').computations)
  assert.match(text, /^\| Row \| parcel_no .* insured \|$/m)
})

test.run()
