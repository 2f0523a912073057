import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { askTables } from '../../../daemon/knowledge/tables/ask-tables.ts'
import type { TableStore } from '../../../daemon/knowledge/tables/table-store.ts'
import { loadWeights } from '../../../daemon/tables/weights.ts'
import { openTables } from './open-tables.ts'

const test = suite('things, groups and numbers of two columns in answers over tables')
const weights = loadWeights()
let file: TableStore
let remove: () => void

const DOCUMENTS = {
  'lots.csv': `Lot no,Title,Maker,Year,Category,Estimate EUR,Status
2001,Blue vase,Ohlsen,1910,Vase,300,Sold
2002,Oak clock,Pryce,1890,Clock,900,Unsold
2003,Brass lamp,Ohlsen,1920,Lamp,450,Unsold
2004,Tall vase,Quint,1905,Vase,700,Sold
`,
  'sales.csv': `sale_no,lot,title,buyer,list_price,total_price,sold_by,sold_on,paid_status,collected
A1,2001,Blue vase,Anton Bell,320,300.50,Hilde Krug,2026-03-02,paid,no
A2,2004,Tall vase,Berta Cohn,720,700.00,Ivo Lange,2026-03-20,open,no
A3,2005,Iron bell,Anton Bell,950,910.00,Hilde Krug,2026-04-11,paid,yes
`,
  'shows.csv': `show_id,title,date,seats,booked,attended,cash_eur,card_eur,total_eur,booked_via
P1,Rain,2026-05-02,60,50,45,100,300,400,phone
P2,Rain,2026-05-09,60,60,58,50,450,500,website
P3,Moon,2026-06-03,80,30,30,120,180,300,website
P4,Moon,2026-06-20,80,80,71,200,520,720,desk
`,
  'helpers.csv': `Name,Team,Heard via,Attendance %,Phone,Left on,Monthly gift (EUR),First aid
Ada,bar,friend,40,,2026-02-01,10.00,yes
Bo,door,poster,80,0171,,20.00,no
Cleo,bar,friend,90,,,15.00,yes
Dan,stage,friend,52,0172,2026-02-11,12.00,no
`,
  'press-errors.csv': `Code,Description,How to solve
E1,plugins option wrongly specified.,Correct the plugins option.
E2,Root plugin has already started.,Register it earlier.
E3,Hook is not known.,Use a supported hook.
E4,Method is not known.,Use a supported method.
E5,Printer has no driver.,Register a plugin for handling printers.
`,
  'paper.csv': `paper_no,name,sheets_in_stock,min_sheets,price_per_sheet,unit
PA1,Matt,50,200,0.02,pack
PA2,Gloss,300,200,0.09,roll
PA3,Kraft,10,100,0.05,pack
`,
}

test.before(async () => {
  ;({ file, remove } = await openTables(DOCUMENTS))
})
test.after(() => remove())

const ask = (question: string) => askTables(question, [file], weights, undefined, new Date(2026, 10, 18)).computations

for (const [question, ...expected] of [
  // A question for a thing gets the thing.
  ['What is the most expensive piece that is unsold?', 'Oak clock'],
  ['Which sold lots are paid but not collected?', '2001'],
  ['For which helpers do we have no phone number?', 'Ada', 'Cleo'],
  ['Which helpers have an attendance below 55 percent?', 'Ada', 'Dan'],
  ['What is the most expensive paper per sheet?', 'Gloss'],
  // People in their roles.
  ['Who bought Tall vase?', 'Berta Cohn'],
  ['Who of us has sold the most in money?', 'Hilde Krug'],
  // Numbers of rows are not added up.
  ['How many lots were sold per month?', 'April 2026', 'March 2026'],
  ['How many helpers left per month in 2026?', 'February 2026'],
  // Ways and listed values are groups.
  ['Which way of booking is used most?', 'website'],
  ['How did our helpers hear about us, how many for each way?', 'friend', 'poster'],
  ['How many helpers are in each team?', 'bar', 'door', 'stage'],
  ['How many shows were booked by phone, on the website and at the desk?', 'desk', 'phone', 'website'],
  ['Which shows are not sold out?', 'P1', 'P3'],
  // Two columns.
  ['How many papers are below their minimum?', '2'],
  ['How many free seats are left for P1?', '10'],
  ['Which shows still have free seats?', 'P1', 'P3'],
  ['How many of the booked people did not turn up at Rain?', '7'],
  ['What share of the May takings was paid by card?', '83.33%'],
  ['What is the difference in average monthly gift between the helpers with first aid and the others?', '3.50 EUR'],
  ['How many sales came to more than 700 euros?', '1'],
] as const)
  test(question, () => {
    const [computation] = ask(question)
    assert.equal(computation?.values.toSorted(), [...expected], computation?.interpretation)
  })

for (const question of [
  'How many vases do we have in stock?',
  'How many hours did Hilde Krug work in March?',
  'How many accidents has Ivo Lange had?',
  'Does the press still support network printers without a plugin?',
])
  test(`${question} is not answered`, () => {
    assert.equal(
      ask(question).map(({ interpretation }) => interpretation),
      [],
    )
  })

test.run()
