import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { askTables } from '../../../daemon/knowledge/tables/ask-tables.ts'
import type { TableStore } from '../../../daemon/knowledge/tables/table-store.ts'
import { TableWordCache } from '../../../daemon/knowledge/tables/table-words.ts'
import { loadWeights } from '../../../daemon/tables/weights.ts'
import { nameDates } from '../../../daemon/tables/wording/named-dates.ts'
import { writePlainly } from '../../../daemon/tables/wording/spoken-forms.ts'
import { openTables } from './open-tables.ts'

const test = suite('what people write around questions over tables')
const weights = loadWeights()
let file: TableStore
let remove: () => void

const DOCUMENTS = {
  'charters.csv': `Charter,Date,Customer,Boat,Status,Nights,Total (€)
H1,2026-03-02,Ada Finch,Heron,done,3,1400.00
H2,2026-05-09,Bo Reed,Egret,cancelled,2,900.00
H3,2026-05-30,Ada Finch,Heron,done,5,2600.00
H4,2026-07-11,Cy Marsh,Egret,done,1,500.00
H5,2026-08-21,Dee Pond,Heron,cancelled,7,3300.00
H6,2026-08-29,Bo Reed,Egret,done,2,50000.00
H7,2026-12-28,Dee Pond,Heron,booked,4,1800.00
`,
}

test.before(async () => {
  ;({ file, remove } = await openTables(DOCUMENTS))
})
test.after(() => remove())

for (const [written, plain] of [
  ["what's the most we've paid, pls", 'what is the most we have paid,'],
  ["who's done most? whats left that they didnt take", 'who has done most? what is left that they did not take'],
  ['charters per boat, cancelled ones aside', 'charters per boat, excluding cancelled'],
  ['our income (cancelled ones do not count)', 'our income (excluding cancelled )'],
  ['nights, leaving out what they cancelled', 'nights, excluding cancelled'],
  ['which were over 1.5 k € or 50.000 €, or below 2 grand', 'which were over 1500 € or 50000 €, or below 2000'],
  ['a 4k screen of 1.621 kg', 'a 4k screen of 1.621 kg'],
  ['what per cent are done? what share is it in %?', 'what percent are done? what share is it ?'],
  ['break down the income by boat, month by month', 'the income per boat, per month'],
  ['best guest by turnover, or going by nights', 'best guest for turnover, or using nights'],
  ['how are they split between Egret and Heron', 'number of they per Egret and Heron'],
  ['how much in may, may I ask', 'how much in May, may I ask'],
])
  test(`“${written}” is read as “${plain}”`, () => assert.is(writePlainly(written as string), plain))

for (const [written, named] of [
  ['since July', 'since July 2026'],
  ['since December', 'since December 2025'],
  ['on Saturday the 21st of November', 'on 21 November 2026'],
  ['on 9 May', 'on 9 May 2026'],
  ['on 9 May 2025, on May 9, 2025', 'on 9 May 2025, on May 9, 2025'],
  ['between 15 March and 15 April 2025', 'between 15 March and 15 April 2025'],
  ['between March and May', 'between March and May 2026'],
  ['between 10 and 20 September', 'between 10 September 2026 and 20 September 2026'],
  ['between the 10th and the 20th of September 2025', 'between 10 September and 20 September 2025'],
  ['from May 3 to 9, 2025', 'from May 3 to May 9, 2025'],
  ['from May 3rd to the 9th', 'from May 3 2026 to May 9 2026'],
  ['from May 3 to 9 June', 'from May 3 to 9 June 2026'],
  ['from May 3 to 12.06.2026', 'from May 3 2026 to 12.06.2026'],
  ['by 31 December in 2026', 'until 31 December 2026'],
  ['before New Year', 'before 2027-01-01'],
  ['between now and the end of November', 'between 2026-11-18 and 2026-11-30'],
  ['this autumn or last summer', 'in autumn 2026 or in summer 2026'],
  ['in the first or the third quarter', 'in the first quarter or the third quarter'],
])
  test(`“${written}” is ${named}`, () => assert.is(nameDates(written as string, '2026-11-18'), named))

const ask = (question: string) => askTables(question, [file], weights, new TableWordCache(), new Date(2026, 10, 18))

for (const [question, expected, interpretation] of [
  ["how many charters have we had, cancelled ones don't count", ['5'], /Status is not cancelled/],
  ['total nights per boat, leaving out cancelled charters', ['Egret', 'Heron'], /Status is not cancelled/],
  ['how many charters were above 1.5k?', ['4'], /more than 1500/],
  ['how many charters were more than 2.000 €?', ['3'], /more than 2000/],
  ['How often did Bo Reed come?', ['2'], /Customer is Bo Reed/],
  ['who was the customer on the 21st of August?', ['Dee Pond'], /Date is 2026-08-21/],
  ['how many charters since July please', ['4'], /2026-07/],
  ['which two customers spent the most?', ['Bo Reed', 'Dee Pond'], /by Customer and added up Total/],
  ['who is our best customer going by money spent?', ['Bo Reed'], /by Customer and added up Total/],
  ['split of the charters by Heron and Egret', ['Egret', 'Heron'], /by Boat and counted them/],
  ['how many charters were between 1000 and 2000 euros?', ['2'], /Total .* between 1000 and 2000/],
  ['charters per boat in euros', ['Egret', 'Heron'], /added up Total/],
] as const)
  test(question, () => {
    const [best] = ask(question).computations
    assert.equal([...(best?.values ?? [])].sort(), expected)
    assert.match(best?.interpretation ?? '', interpretation)
  })

test('what “only” restricts the rows to is not dropped', () => {
  assert.equal(ask('total nights per boat, only those that were fun').computations, [])
})

test.run()
