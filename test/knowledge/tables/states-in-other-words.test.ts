import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { askTables } from '../../../daemon/knowledge/tables/ask-tables.ts'
import type { TableStore } from '../../../daemon/knowledge/tables/table-store.ts'
import { loadWeights } from '../../../daemon/tables/weights.ts'
import { openTables } from './open-tables.ts'

const test = suite('statuses, times and yes or no in other words')
const weights = loadWeights()
let file: TableStore
let remove: () => void

const DOCUMENTS = {
  'workshops.csv': `workshop,topic,date,booked_on,trainer,people,fee_eur,status
W1,Pottery,2026-09-03,2026-08-01,Ida Frey,8,120,held
W2,Weaving,2026-10-07,2026-08-20,Ida Frey,5,90,no-show
W3,Pottery,2026-11-01,2026-09-02,Jon Gray,9,150,held
W4,Glass,2026-11-20,2026-09-09,Jon Gray,4,80,cancelled
W5,Weaving,2026-11-25,2026-10-10,,6,95,planned
W6,Pottery,2026-12-09,2026-10-12,Ida Frey,7,110,planned
`,
  'parcels.csv': `parcel,client,value_eur,promised,shipped,delivered,status
P1,Elm Cafe,40,2026-10-05,2026-10-01,2026-10-04,delivered
P2,Oak Bar,60,2026-10-09,2026-10-02,2026-10-12,delivered
P3,Elm Cafe,25,2026-11-09,2026-11-05,,in transit
P4,Fir Inn,30,2026-11-28,,,processing
P5,Oak Bar,80,2026-11-02,,,cancelled
`,
  'skippers.csv': `name,harbour,licence,licence_valid_until,first aider,radio,photographed
Ana Boyd,North,A,2026-08-01,yes,yes,yes
Col Dunn,North,B,2027-01-15,yes,no,no
Eva Finn,South,A,2028-03-01,no,yes,yes
`,
  'permits.csv': `permit,holder,inspection_due,warranty_end,assignee,consent signed,within_target
M1,Gil Hart,2026-10-01,2026-05-01,Kim,yes,yes
M2,Isa Jung,2027-02-01,2027-05-01,,no,no
M3,Kai Lund,2026-12-01,2026-11-01,Kim,no,yes
`,
}

test.before(async () => {
  ;({ file, remove } = await openTables(DOCUMENTS))
})
test.after(() => remove())

for (const [question, values, interpretation] of [
  // What is ahead begins today, without what is cancelled.
  ['When is the next workshop?', '2026-11-25', 'smallest date … date is in or after 2026-11-18 and status is not cancelled'],
  ['What topic is the next workshop of Ida Frey about?', 'Pottery', 'trainer is Ida Frey'],
  ['Which workshops do we still have ahead of us?', 'W5, W6', 'date is in or after 2026-11-18'],
  // Statuses.
  ['How many workshops were called off?', '1', 'status is cancelled'],
  ['How many pottery workshops took place?', '2', 'status is held'],
  ['How many people came per topic, only workshops that really took place?', 'Pottery', 'Grouped the rows … status is held'],
  ['For which workshop did somebody not turn up?', 'W2', 'status is no-show'],
  ['Which parcels are on their way?', 'P3', 'status is in transit'],
  ['How many parcels do we still have to send out?', '1', 'shipped is empty and status is not cancelled'],
  // Dates.
  ['Which parcels should have been delivered by now but have not?', 'P3', 'promised is before 2026-11-18 and delivered is empty'],
  ['How many parcels were delivered later than promised?', '1', 'delivered is later than promised'],
  ['Whose boating licence has already run out?', 'Ana Boyd', 'licence_valid_until is before 2026-11-18'],
  ['Which permits are past their inspection date?', 'M1', 'inspection_due is before 2026-11-18'],
  ['How many permits have no warranty left?', '2', 'warranty_end is before 2026-11-18'],
  // Yes and no.
  ['Who in North is a first aider?', 'Ana Boyd, Col Dunn', 'first aider is yes'],
  ['How many skippers have the radio certificate?', '2', 'radio is yes'],
  ['Do we have a photo of Col Dunn?', 'no', 'photographed is yes'],
  ['Can Eva Finn radio?', 'yes', 'radio is yes'],
  ['Which permit has nobody on it?', 'M2', 'assignee is empty'],
  ['Which holders still have to sign the consent form?', 'Isa Jung, Kai Lund', 'consent signed is no'],
  ['How many permits missed the target?', '1', 'within_target is no'],
] as const)
  test(question, () => {
    const { computations } = askTables(question, [file], weights, undefined, new Date('2026-11-18T12:00:00'))
    assert.is(computations[0]?.values.join(', '), values, JSON.stringify(computations.map((each) => each.interpretation)))
    for (const part of interpretation.split(' … ')) assert.match(computations[0]?.interpretation ?? '', part)
  })

for (const question of ['Can Eva Finn swim?', 'How many workshops were a success?', 'Which skipper comes next in the alphabet?'])
  test(`refused: ${question}`, () => {
    const { computations } = askTables(question, [file], weights, undefined, new Date('2026-11-18T12:00:00'))
    assert.equal(computations, [])
  })

test.run()
