import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { findAmounts, listAmountsInRange } from '../../../daemon/models/quoted-answers/question/match-ranges.ts'

const test = suite('ranges of tables')
const contains = (row: string, question: string, header = '') => listAmountsInRange(row, header, findAmounts(question)).length > 0

for (const [row, question, header] of [
  ['| 2 to 5 years | 8 weeks |', 'What do I get after 3 years?'],
  ['| 6 months to 2 years | 4 weeks |', 'What do I get after 1 year?'],
  ['| 2–5 kg | €7 |', 'What does a parcel of 3.5 kg cost?'],
  ['| up to 2 kg | €4 |', 'And 2kg?'],
  ['| over 5 years | 13 weeks |', 'I have been here for 7 years.'],
  ['| 10 days or more | manager |', 'Who approves 12 days?'],
  ['| €1,000 – €5,000 | director |', 'Who approves €2,500?'],
  ['| 0–2 | €4 |', 'How much are 2 kg?', '| Weight (kg) | Price |'],
  ['| 2 bis 5 Jahre | 8 Wochen |', 'Wie viel gibt es nach 3 Jahren?'],
  ['| 5+ years | 13 weeks |', 'What do I get after 7 years?'],
  ['| 5 or more years | 13 weeks |', 'What do I get after 7 years?'],
  ['| not more than 5 kg | €4 |', 'What does a parcel of 3 kg cost?'],
  ['| >= 5 kg | €9 |', 'What does a parcel of 5 kg cost?'],
  ['| unter 6 Monaten | nichts |', 'Was bekomme ich nach 3 Monaten?'],
] as const)
  test(`"${question}" is about "${row}"`, () => assert.ok(contains(row, question, header)))

for (const [row, question, header] of [
  ['| 2 to 5 years | 8 weeks |', 'What do I get after 6 years?'],
  ['| over 5 years | 13 weeks |', 'What do I get after 5 years?'],
  ['| under 6 months | none |', 'What do I get after 1 year?'],
  ['| 2 to 5 years | 8 weeks |', 'What happened to 3 tenants?'],
  ['| no more than 5 kg | €4 |', 'What does a parcel of 7 kg cost?'],
  ['| not less than 5 years | 9 |', 'What do I get after 3 years?'],
  ['| 3–5 | €4 |', 'What does it cost to ship 4 kg?', '| Delivery days | Price per kg |'],
  ['| 2026-10-15 | release |', 'What happened 12 days ago?'],
  ['| 0–2 | €4 |', 'How much are 2 kg?', '| Level | Price |'],
  ['| 3 years | 8 weeks |', 'What do I get after 3 years?'],
  ['| | |', 'What is this?'],
] as const)
  test(`"${question}" is not about "${row}"`, () => assert.not(contains(row, question, header)))

test.run()
