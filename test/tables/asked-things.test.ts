import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { askTables } from '../../daemon/knowledge/tables/ask-tables.ts'
import type { TableStore } from '../../daemon/knowledge/tables/table-store.ts'
import { loadWeights } from '../../daemon/tables/weights.ts'
import { openTables } from '../knowledge/tables/open-tables.ts'

const test = suite('what questions over tables ask for')
const weights = loadWeights()
let file: TableStore
let remove: () => void

const DOCUMENTS = {
  'bills.csv': `Bill,Date,Client,Goods,Total,Status,Entered by
B-1,2026-01-05,Ludo,Paper,120.50,paid,Rita
B-2,2026-01-19,Ludo,Office,80.00,open,Rita
B-3,2026-02-02,Brix,Paper,640.00,overdue,Sven
B-4,2026-02-11,Brix,Toner,75.25,paid,Rita
B-5,2026-03-03,Nova,Office,310.00,open,Rita
B-6,2026-03-09,Nova,Toner,95.00,overdue,Sven
`,
  'tools.csv': `Tool,Place,Price,Bought,Quantity
Drill,Cellar,89.00,2024-05-01,1
Saw,Cellar,45.00,2023-02-01,2
Ladder,Garage,150.00,2022-08-08,1
`,
  'handover.md': `# Handover

| Key | Number |
|---|---|
| Letterbox | 2 |
| Front door | 1 |
| Flat | 2 |
`,
  'post/quote.eml/extras.csv': `Extra,Price
Green roof,380
Window,145
Second door,290
`,
}

test.before(async () => {
  ;({ file, remove } = await openTables(DOCUMENTS))
})
test.after(() => remove())

const ask = (question: string) => askTables(question, [file], weights, undefined, new Date(2026, 10, 19)).computations

for (const question of [
  'Who is Rita?',
  'What is the paper?',
  'Where does Rita work?',
  'Where is the office?',
  'When does the office open?',
  'What is open on Sunday?',
  'Where did I buy the drill?',
  'Where does the drill come from?',
  'Who sold me the ladder?',
  'Who lives in the cellar?',
  'How many cellars do I have?',
  'How many seats does the ladder have?',
  'How much does the price rise?',
  'How much does paper insurance cost?',
  'How often does the poster retry?',
  'Does the hotel quote breakfast?',
  'Who paid for the hotel?',
])
  test(`no table answers: ${question}`, () => assert.equal(ask(question), []))

for (const [question, ...expected] of [
  ['Where is the drill?', 'Cellar'],
  ['When did I buy the saw?', '2023-02-01'],
  ['What is in the cellar?', 'Drill', 'Saw'],
  ['Who is overdue?', 'Brix', 'Nova'],
  ['List all clients', 'Ludo', 'Brix', 'Nova'],
  ['List all bills of Ludo', 'B-1', 'B-2'],
  ['List the 2 smallest bills', 'B-4', 'B-2'],
  ['Show the three largest bills', 'B-3', 'B-5', 'B-1'],
  ['What is the biggest unpaid bill?', 'B-3'],
  ['How many people enter bills?', '2'],
  ['What is the total of all extras?', '815'],
  ['How much do the window and the second door cost together?', '435'],
  ['What is the total value of the tools?', '329'],
  ['What is the total value of everything in the cellar?', '179'],
  ['How much did I pay for the saw?', '90'],
  ['How many letterbox keys do I have?', '2'],
  ['How many keys are there in total?', '5'],
] as const)
  test(question, () => assert.equal(ask(question)[0]?.values, [...expected]))

for (const [question, verdict, compared] of [
  ['Did Brix spend more than Ludo?', 'yes', 'Client is Brix (715.25), and where Client is Ludo (200.5)'],
  ['Did Sven enter more bills than Rita?', 'no', 'Entered by is Sven (2), and where Entered by is Rita (4)'],
  ['Is the green roof more expensive than the window?', 'yes', 'Extra is Green roof (380), and where Extra is Window (145)'],
] as const)
  test(`two values are compared: ${question}`, () => {
    const [computation, ...others] = ask(question)
    assert.equal([computation?.values, others], [[verdict], []])
    assert.ok(computation?.interpretation.includes(compared), computation?.interpretation)
  })

test('a noun that the table does not have makes an answer probable', () => {
  const [computation] = ask('How many gadgets are in the cellar?')
  assert.ok(computation?.isUncertain)
  assert.ok(computation?.interpretation.includes('“gadgets” was taken to mean its rows.'))
})

test.run()
