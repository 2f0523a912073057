import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { askTables } from '../../../daemon/knowledge/tables/ask-tables.ts'
import type { TableStore } from '../../../daemon/knowledge/tables/table-store.ts'
import { TableWordCache } from '../../../daemon/knowledge/tables/table-words.ts'
import { loadWeights } from '../../../daemon/tables/weights.ts'
import { openTables } from './open-tables.ts'

const test = suite('deadlines, durations, dates of verbs and debts in questions over tables')
const weights = loadWeights()
const opened: { file: TableStore; remove: () => void }[] = []

/** Folders of several businesses. */
const FOLDERS = {
  library: {
    'loans.csv': `Loan No,Reader,Book,Lent on,Return by,Returned on,Fine (€)
L1,Ada Berg,Emma,2026-03-02,2026-03-30,2026-03-28,
L2,Bo Lind,Dracula,2026-04-01,2026-04-29,2026-05-06,3.50
L3,Ada Berg,Ulysses,2026-04-20,2026-05-18,,
L4,Cem Kaya,Emma,2026-05-04,2026-06-01,,
L5,Bo Lind,Middlemarch,2026-05-25,2026-06-22,,
L6,Dina Roth,Emma,2026-05-26,2026-06-23,2026-06-05,
`,
    'readers.json': JSON.stringify([
      { name: 'Ada Berg', joined: '2019-02-03', left_on: null, fees_owed_eur: 12.5, last_visit: '2026-05-20', monthly_fee: 4 },
      { name: 'Bo Lind', joined: '2017-09-14', left_on: null, fees_owed_eur: 0, last_visit: '2026-01-11', monthly_fee: 4 },
      { name: 'Cem Kaya', joined: '2022-06-30', left_on: '2026-04-30', fees_owed_eur: 3, last_visit: '2026-02-27', monthly_fee: 4 },
      { name: 'Dina Roth', joined: '2023-01-19', left_on: '2026-04-02', fees_owed_eur: 0, last_visit: '2026-05-26', monthly_fee: 4 },
    ]),
  },
  workshop: {
    'repairs.tsv': [
      'Ticket\tCustomer\tBike\tBrought in\tPromised\tPicked up\tPrice (€)\tPaid\tPaid on\tState',
      'R-1\tMia Voss\tBrompton\t2026-04-02\t2026-04-09\t2026-04-07\t80\tyes\t2026-04-20\tdone',
      'R-2\tNoa Part\tTrek\t2026-04-14\t2026-04-20\t2026-04-25\t140\tyes\t2026-04-25\tdone',
      'R-3\tMia Voss\tTrek\t2026-05-06\t2026-05-13\t2026-05-13\t60\tno\t\tdone',
      'R-4\tOle Quist\tCube\t2026-05-18\t2026-05-29\t\t210\tno\t\topen',
      'R-5\tNoa Part\tCube\t2026-06-02\t2026-06-12\t\t95\tno\t\topen',
    ].join('\n'),
  },
  wholesale: {
    'purchases.csv': `inv_no,vendor,goods,inv_date,due_date,total,paid,paid_date,first_check_h
P-1,Hansa,tea,2026-03-01,2026-03-31,120.00,yes,2026-03-20,2
P-2,Orion,rice,2026-03-15,2026-04-14,300.00,yes,2026-04-30,6
P-3,Hansa,tea,2026-04-20,2026-05-20,150.00,no,,4
P-4,Orion,salt,2026-05-12,2026-06-11,80.00,no,,8
`,
    'parcels.csv': `Parcel,Customer,Ordered,Ship by,Shipped on,Arrived,Checked,Outcome
X1,Ute Horn,2026-04-01,2026-04-05,2026-04-04,2026-04-09,yes,delivered
X2,Ivo Lang,2026-04-03,2026-04-08,2026-04-12,2026-04-15,no,delivered
X3,Ute Horn,2026-05-02,2026-05-06,2026-05-06,2026-05-16,no,returned
X4,Ivo Lang,2026-05-30,2026-06-04,,,no,in preparation
X5,Kai Moor,2026-06-08,2026-06-15,,,no,in preparation
`,
  },
}

test.before(async () => {
  for (const documents of Object.values(FOLDERS)) opened.push(await openTables(documents))
})
test.after(() => {
  for (const { remove } of opened) remove()
})

const ask = (folder: keyof typeof FOLDERS, question: string) => {
  const file = opened[Object.keys(FOLDERS).indexOf(folder)]?.file as TableStore
  return askTables(question, [file], weights, new TableWordCache(), new Date(2026, 5, 10))
}

const QUESTIONS: readonly (readonly [keyof typeof FOLDERS, question: string, values: string, interpretation: RegExp])[] = [
  // What is due and not done.
  ['library', 'Which loans are overdue?', 'L3 L4', /Return by is before 2026-06-10 and Returned on is empty/],
  ['library', 'Which books are past their return-by date and still not back?', 'Ulysses Emma', /Return by is before/],
  ['library', 'How many loans should have been returned by now but are not?', '2', /Returned on is empty/],
  ['workshop', 'Which repairs are past the promised date?', 'R-4', /Promised is before 2026-06-10 and Picked up is empty/],
  ['wholesale', 'Which purchases are overdue, i.e. unpaid although the due date has passed?', 'P-3', /paid is no/],
  ['wholesale', 'Which vendor invoices are overdue?', 'P-3', /due_date is before 2026-06-10 and paid is no/],
  ['wholesale', 'How many invoices are overdue, meaning due before today and not paid?', '1', /paid is no/],
  ['wholesale', 'Which parcels have not been shipped and are already past their ship-by date?', 'X4', /Ship by is before/],
  ['wholesale', 'How much do we owe for invoices whose due date has passed?', '150.00', /due_date is before/],
  [
    'workshop',
    'Which customers have unpaid repairs from May or later?',
    'Mia Voss Ole Quist Noa Part',
    /Brought in is in or after 2026-05/,
  ],
  // Planned and actual dates.
  ['library', 'How many loans came back after the return-by date?', '1', /Returned on is later than Return by/],
  ['library', 'How many days late was loan L2?', '7', /days from Return by to Returned on/],
  ['wholesale', 'How many invoices did we pay after their due date?', '1', /paid_date is later than due_date/],
  ['wholesale', 'Which parcels went out later than promised, i.e. after the ship-by date?', 'X2', /Shipped on is later than Ship by/],
  ['wholesale', 'How many parcels were shipped by the ship-by date?', '2', /Shipped on is not later than Ship by/],
  ['workshop', 'How many days late was R-2 picked up?', '5', /days from Promised to Picked up/],
  // Durations.
  ['workshop', 'How many days was R-2 in the workshop?', '11', /days from Brought in to Picked up/],
  ['workshop', 'How long does it take on average until a repair is paid?', '14.5', /days from Brought in to Paid on/],
  [
    'wholesale',
    'How many days does it take on average from the shipping until the parcel arrives?',
    '6',
    /days from Shipped on to Arrived/,
  ],
  ['wholesale', 'How long do vendors wait for the first check on average?', '5', /Averaged first_check_h/],
  ['library', 'Which reader has been with us the longest?', 'Bo Lind', /smallest joined/],
  ['library', 'Which book that is not back yet has been out the longest?', 'Ulysses', /smallest Lent on/],
  ['library', 'Which readers have not visited us since the end of February?', 'Bo Lind Cem Kaya', /last_visit is before 2026-03-01/],
  // Days of a month.
  ['workshop', 'How many bikes were brought in between 1 and 15 April?', '2', /Brought in is from 2026-04-01 to 2026-04-15/],
  ['workshop', 'Which bikes were picked up from May 10 to 20?', 'Trek', /Picked up is from 2026-05-10 to 2026-05-20/],
  // The date of a verb.
  ['wholesale', 'When did we ship X2?', '2026-04-12', /Shipped on/],
  ['wholesale', 'When do we have to ship X5?', '2026-06-15', /Ship by/],
  ['library', 'How many readers left per month?', 'April 2026', /month of left_on/],
  ['workshop', 'How many repairs were paid per month?', 'April 2026', /month of Paid on/],
  // States.
  ['library', 'Which readers are in arrears?', 'Ada Berg Cem Kaya', /fees_owed_eur is more than 0/],
  ['library', 'Who owes us the most?', 'Ada Berg', /fees_owed_eur/],
  ['wholesale', 'Which parcels have arrived but were not checked?', 'X2 X3', /Arrived is not empty/],
  ['wholesale', 'How many successful parcels did Ivo Lang get?', '1', /Outcome is delivered/],
]

for (const [folder, question, values, interpretation] of QUESTIONS)
  test(`${folder}: ${question}`, () => {
    const [computation] = ask(folder, question).computations
    assert.is(computation?.values.map((value) => value.replace(/ (?:days|EUR)$/, '')).join(' '), values)
    assert.match(computation?.interpretation ?? '', interpretation)
  })

for (const [folder, question] of [
  ['library', 'How many days was Ada Berg on holiday?'],
  ['library', 'Which loans are insured?'],
  ['workshop', 'How many hours late did the mechanic come?'],
] as const)
  test(`no table of the ${folder} says: ${question}`, () => assert.equal(ask(folder, question).computations, []))

test.run()
