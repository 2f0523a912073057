import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { type ComparedAnswer, hasContradiction } from '../../../daemon/models/quoted-answers/find-contradiction.ts'

const test = suite('contradictions')
const compare = (question: string, ...answers: [short: string, quote: string][]) => {
  const [first, second] = answers.map(([short, quote]) => ({ short, quote })) as [ComparedAnswer, ComparedAnswer]
  return hasContradiction(question, first, second)
}

test('different numbers of the same unit for the same thing contradict each other', () => {
  const question = 'How many days of leave do we have?'
  assert.ok(compare(question, ['25 days', 'Staff have 25 days of leave.'], ['30 days', 'Staff have 30 days of leave a year.']))
  assert.not(compare(question, ['25 days', 'Staff have 25 days of leave.'], ['25', 'The leave of staff is 25 days.']))
})

test('other units are no contradiction', () => {
  const question = 'How much do we work in a week?'
  assert.not(compare(question, ['32 hours', 'We work 32 hours a week.'], ['4 days', 'We work 4 days a week.']))
  assert.not(compare(question, ['32', 'We work 32 hours a week.'], ['4', 'We work 4 days a week.']))
})

test('sentences about different things are no contradiction', () => {
  const question = 'What is the limit?'
  assert.not(compare(question, ['5 MB', 'The limit of an upload is 5 MB.'], ['9 MB', 'Log files have a limit: 9 MB.']))
  const days = 'How many days of leave do trainees have?'
  assert.not(compare(days, ['25 days', 'Staff have 25 days of leave.'], ['30 days', 'Trainees have 30 days of leave.']))
})

test.run()
