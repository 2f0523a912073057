import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { askTables } from '../../../daemon/knowledge/tables/ask-tables.ts'
import type { TableStore } from '../../../daemon/knowledge/tables/table-store.ts'
import { loadWeights } from '../../../daemon/tables/weights.ts'
import { HELD_QUESTIONS, QUESTIONS, TABLES } from '../../tables/business-tables.ts'
import { openTables } from './open-tables.ts'

const test = suite('questions over business tables')
let file: TableStore
let remove: () => void

test.before(async () => {
  ;({ file, remove } = await openTables(TABLES))
})
test.after(() => remove())

const weights = loadWeights()
const compute = (question: string) => askTables(question, [file], weights).computations[0]

test('at least 95 % of the questions are answered as expected, and few otherwise', () => {
  const questions = [...QUESTIONS, ...HELD_QUESTIONS]
  const results = questions.map(([question, ...expected]) => {
    const readings = askTables(question, [file], weights).computations.map(({ values }) => [...values].sort().join())
    return { question, readings, isRight: readings.includes([...expected].sort().join()) }
  })
  const right = results.filter(({ isRight }) => isRight).length / questions.length
  const wrong = results.filter(({ readings, isRight }) => readings.length > 0 && !isRight)
  assert.ok(right >= 0.95, JSON.stringify(results.filter(({ isRight }) => !isRight)))
  assert.ok(wrong.length <= questions.length / 30, JSON.stringify(wrong))
})

for (const question of [
  'How do I reset my password?',
  'What is the policy for remote work?',
  'Who approves travel?',
  'What does the error ECONNREFUSED mean?',
  'How many days of annual leave do I have?',
  'Can orders be cancelled?',
  'How are invoices paid?',
  'When can employees work remotely?',
  'Are shipped orders insured?',
  'What do new employees receive?',
])
  test(`not answered from a table: ${question}`, () => {
    assert.is(compute(question), undefined)
  })

const SUBSCRIPTIONS = `Account,Plan,Seats,MRR (USD),Renewal date,Owner,Region,Churned
Northwind,Enterprise,120,"4,800.00",2025-03-31,Priya,EMEA,no
Contoso,Team,25,500.00,2024-11-15,Leo,IT,no
Fabrikam,Enterprise,310,"12,400.00",2025-06-30,Priya,AMER,no
Tailspin,Starter,4,39.60,2024-09-01,Sofia,EMEA,yes
Wingtip,Team,40,800.00,,Leo,IT,no
`
/** Answers a question over one table. */
async function askDocument(question: string, name: string, text: string) {
  const document = await openTables({ [name]: text })
  const { computations } = askTables(question, [document.file], weights)
  document.remove()
  return computations
}

const PROJECTS = `Project,Lead,Kind,Started,Planned hours,Actual hours,Rate,Progress
Atlas,Mona Reyes,Internal,12.01.2025,120,150,€80.00,100%
Beacon,Tim Osei,Client,03.09.2025,400,380,€95.50,60%
Comet,Mona Reyes,Client,28.10.2024,90,90,€110.00,35%
Delta,Ida Holm,Internal,17.06.2025,60,75,€80.00,80%
`
for (const [question, ...expected] of [
  ['Which projects have more actual hours than planned hours?', 'Atlas', 'Delta'],
  ['How many projects are above their planned hours?', '2'],
  ['What are the median actual hours?', '120'],
  ['Which project has the highest rate?', 'Comet'],
  ['Which project started first?', 'Comet'],
  ['How many projects started in the second half of 2025?', '1'],
  ['Which projects are below 70 %?', 'Beacon', 'Comet'],
  ['Which lead has the most projects?', 'Mona Reyes'],
] as const)
  test(question, async () => {
    const [computation] = await askDocument(question, 'projects.csv', PROJECTS)
    assert.equal(computation?.values.toSorted(), [...expected])
  })

const FLEET = `Plate;Model;Fuel;Year;Mileage (km);Location;Next inspection;Driver
B-101;Caddy;diesel;2019;84210;Depot 1;12.02.2026;Jansen
B-205;Transit;diesel;2021;65300;Depot 2;30.09.2026;Yilmaz
B-317;Leaf;electric;2022;30110;HQ;05.05.2026;Lind
B-442;ID.3;electric;2024;8050;HQ;17.11.2026;
`
for (const [question, ...expected] of [
  ['How many electric cars are at HQ?', '2'],
  ['Which vehicle has the highest mileage?', 'B-101'],
  ['What is the average mileage of diesel vehicles?', '74755'],
  ['Who drives the Transit?', 'Yilmaz'],
  ['Which car has no driver?', 'B-442'],
  ['How many cars were built after 2020?', '3'],
  ['How many vehicles are stationed at Depot 1?', '1'],
] as const)
  test(`words that the table does not have: ${question}`, async () => {
    const [computation] = await askDocument(question, 'fleet.csv', FLEET)
    assert.equal(computation?.values.toSorted(), [...expected])
  })

test('the interpretation says which word was taken to mean the rows', async () => {
  const [computation] = await askDocument('How many electric runabouts are at HQ?', 'fleet.csv', FLEET)
  assert.match(computation?.interpretation ?? '', /“runabouts” was taken to mean its rows\.$/)
})

test('a word that may be about something else is not taken to mean the rows of a table in a text', async () => {
  const text = '# Offices\n\n| City | Manager |\n|---|---|\n| Berlin | Ruth |\n| Madrid | Juan |\n| Lisbon | Rui |\n'
  assert.equal(await askDocument('How many complaints came from Madrid?', 'handbook.md', text), [])
})

const GIFTS = `Date,Donor,Amount,Campaign,Anonymous
2025-01-04,Marco Silva,150.00,Winter Aid,no
2025-03-18,Jo Stein,75.50,Winter Aid,no
2025-05-02,Marco Silva,200.00,School Books,no
2025-06-20,Unknown,300.00,Winter Aid,yes
`
for (const [question, ...expected] of [
  ['Which campaign raised the most?', 'Winter Aid'],
  ['Which donor gave the most?', 'Marco Silva'],
  ['How many people donated anonymously?', '1'],
  ['How much did Marco Silva donate?', '350'],
  ['How many donations did Marco Silva make?', '2'],
] as const)
  test(`verbs for money, adverbs, names like months: ${question}`, async () => {
    const computations = await askDocument(question, 'donations.csv', GIFTS)
    assert.equal(
      computations.map(({ values }) => values),
      [[...expected]],
    )
  })

const TOURS = `Tour;Date;Driver;Country;Distance (km);Monthly toll;Delayed;Passed check
T-1;14.03.2025;Ilona;Germany;300;10,50 €;yes;no
T-2;15.03.2025;Bruno;France;816;20,00 €;no;yes
T-3;15.04.2025;Ilona;Germany;120;30,25 €;no;yes
T-4;16.04.2025;Dilek;Germany;500;40,00 €;no;yes
`
for (const [question, ...expected] of [
  ['How many tours were between 15 March and 15 April 2025?', '2'],
  ['How many tours were after 15 March 2025?', '2'],
  ['How many tours were before 16.04.2025?', '3'],
  ['How many kilometres did Ilona drive?', '420'],
  ['What is the average monthly toll of Bruno?', '€20'],
  ['Which tour was the longest?', 'T-2'],
  ['How many German tours are there?', '3'],
  ['How many tours failed the check?', '1'],
] as const)
  test(`days, units and other forms of words: ${question}`, async () => {
    const [computation] = await askDocument(question, 'tours.csv', TOURS)
    assert.equal(computation?.values.toSorted(), [...expected])
  })

test('the interpretation of a range names its first and last day', async () => {
  const [computation] = await askDocument('How many tours were between 15 March and 15 April 2025?', 'tours.csv', TOURS)
  assert.is(computation?.interpretation, 'Counted the rows of tours.csv where Date is from 2025-03-15 to 2025-04-15.')
})

test('a verb that states a condition is not ignored', async () => {
  const text = 'Client,Amount,Status\nAcme,10,paid\nGlobex,20,new\nInitech,30,new\n'
  assert.equal(await askDocument('Which client owes us the most money?', 'invoices.csv', text), [])
})

test('names of JavaScript are words', async () => {
  const text = 'Term,Uses\nconstructor,3\nvalueOf,5\nhasOwnProperty,7\n'
  const [computation] = await askDocument('How many uses does constructor have?', 'terms.csv', text)
  assert.equal(computation?.values, ['3'])
})

test('a measure that no column has may be in the text around a table', async () => {
  const text = '# Coffee machine\n\nThe machine weighs 7.4 kg.\n\n| Machine | Cups |\n|---|---|\n| A | 2 |\n| B | 4 |\n'
  const machine = await openTables({ 'machine.md': text })
  assert.is(askTables('How heavy is the machine?', [machine.file], weights).problem, undefined)
  assert.ok(askTables('How many spoons does the machine have?', [machine.file], weights).problem)
  machine.remove()
})

test('a superlative that no column measures is not answered', async () => {
  assert.equal(await askDocument('Which donor is the tallest?', 'donations.csv', GIFTS), [])
})

test('a number of things is the sum of their quantities, beside the number of rows', async () => {
  const readings = askTables('How many monitors were ordered in total?', [file], weights).computations
  assert.equal(
    readings.map(({ values, interpretation }) => [values[0], interpretation]),
    [
      ['10', 'Added up Quantity in the rows of orders.csv where Product is Monitor.'],
      ['3', 'Counted the rows of orders.csv where Product is Monitor.'],
    ],
  )
  assert.equal(
    askTables('How many orders did Globex place?', [file], weights).computations.map(({ values }) => values),
    [['3']],
  )
})

for (const [question, ...expected] of [
  ['What percentage of accounts churned?', '20%'],
  ['Which plan has the highest average MRR?', 'Enterprise'],
  ['average number of seats for IT', '32.5'],
  ['How many seats does Wingtip have?', '40'],
  ['Which accounts renew in 2025?', 'Fabrikam', 'Northwind'],
  ['How many accounts are there per region?', 'AMER', 'EMEA', 'IT'],
  ['Which owner has the most seats?', 'Priya'],
  ['How many more seats does Fabrikam have than Wingtip?', '270'],
  ['Can you list the accounts of Leo?', 'Contoso', 'Wingtip'],
  ['Show the top 2 accounts by MRR', 'Fabrikam', 'Northwind'],
  ['MRR per year of renewal', '2024', '2025'],
  ['What is the largest account by seats?', 'Fabrikam'],
] as const)
  test(question, async () => {
    const [computation] = await askDocument(question, 'subscriptions.csv', SUBSCRIPTIONS)
    assert.equal(computation?.values.toSorted(), [...expected])
  })

test('a word of a value is not read as an operation', async () => {
  const errors = 'Code,Description\nERR_TYPE,Has no type\nERR_ADDED_AFTER_START,Was added too late\nERR_PLUGIN,Is no function\n'
  const computations = await askDocument('What does ERR_ADDED_AFTER_START mean?', 'errors.csv', errors)
  assert.not.ok(computations.some(({ interpretation }) => interpretation.includes('the row after')))
})

test('the interpretation names the columns, the values and the document', () => {
  const interpret = (question: string) => compute(question)?.interpretation
  assert.is(interpret('How many orders were cancelled?'), 'Counted the rows of orders.csv where Status is cancelled.')
  assert.is(interpret('What is the average salary per department?'), 'Grouped the rows of employees.csv by Department and averaged Salary.')
  assert.is(interpret('What is the total budget?'), 'Added up Budget in the rows of departments.csv.')
})

test.run()
