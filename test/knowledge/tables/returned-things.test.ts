import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { askTables } from '../../../daemon/knowledge/tables/ask-tables.ts'
import type { TableStore } from '../../../daemon/knowledge/tables/table-store.ts'
import { loadWeights } from '../../../daemon/tables/weights.ts'
import { openTables } from './open-tables.ts'

const test = suite('questions about what was lent and repaired')
const weights = loadWeights()
let file: TableStore
let remove: () => void

const DOCUMENTS = {
  'loans.csv': `Loan,Tool type,Borrower,Borrowed on,Due back,Returned on,dur_min
L1,Hand saw,Ann Bell,2026-01-05,2026-01-12,2026-01-15,30
L2,Jig saw,Ben Cole,2026-02-01,2026-02-08,2026-02-06,45
L3,Ladder,Ann Bell,2026-05-20,2026-05-27,,60
L4,E-saw,Ann Bell,2026-05-22,2026-05-29,,20
`,
  'jobs.csv': `Job,Team,Status,Parts (EUR),Grade
J1,Red,Waiting for parts,,3
J2,Red,Done,,4
J3,Blue,Done,12.50,3
J4,Blue,Done,8.00,3
`,
  'bills.md': `# Bills

| Bill | Company | Issued | Paid on |
|---|---|---|---|
| B1 | Green Post | 3 Mar 2026 | 1 Apr 2026 |
| B2 | Green Post | 8 Apr 2026 | 20 Apr 2026 |
| B3 | Hotel Lake | 2 May 2026 | |
`,
}

test.before(async () => {
  ;({ file, remove } = await openTables(DOCUMENTS))
})
test.after(() => remove())

const ask = (question: string) => askTables(question, [file], weights)

for (const [question, expected, interpretation] of [
  // A value that stands in the question says more than a rule.
  ['Which jobs are still waiting for parts?', [['J1']], /where Status is Waiting for parts/],
  ['Which loans came back late?', [['L1']], /Returned on is later than Due back/],
  ['Who brought it back too late?', [['Ann Bell']], /Returned on is later than Due back/],
  // The participle names no column, and "tools" no value.
  ['How many borrowed tools have not come back yet?', [['2']], /Counted the rows of loans.csv where Returned on is empty/],
  ['How many days passed on average between being borrowed and returned?', [['7.5 days']], /Averaged days from Borrowed on to Returned on/],
  [
    'How many minutes did each borrower have?',
    [
      ['Ann Bell', '110'],
      ['Ben Cole', '45'],
    ],
    /added up dur_min/,
  ],
  ['How much higher is the average grade of Red than of Blue?', [['0.5', '3.5', '3']], /subtracted/],
  ['When did we last send Green Post a bill?', [['8 Apr 2026']], /largest Issued/],
] as const)
  test(question, () => {
    const { computations, problem } = ask(question)
    assert.is(problem, undefined)
    assert.is(computations.length, 1)
    assert.equal(computations[0]?.cells, expected)
    assert.match(computations[0]?.interpretation ?? '', interpretation)
  })

test('what a question asks for is named if no table has it', () => {
  assert.equal(ask("What is Ben Cole's hourly pay?").problem?.missing, ['hourly'])
})

test.run()
