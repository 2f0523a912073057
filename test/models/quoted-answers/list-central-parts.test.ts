import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { listCentralParts } from '../../../daemon/models/quoted-answers/list-central-parts.ts'

const test = suite('passages for summaries and comparisons')
const README = { content: '# Project\n\nRead the guides.', source: 'README.md', page: 1, headings: ['Project'] }
const LEAVE = {
  content: 'Ask early. Leave is thirty days a year, and leave that is not taken is lost in March. It rains.',
  source: 'leave-policy.md',
  page: 1,
}
const TRAVEL = { content: 'Trips are booked in second class and trips by plane need consent.', source: 'travel-policy.md', page: 1 }

const list = (question: string, passages: { content: string; source: string; page: number }[]) =>
  listCentralParts(question, passages).map(({ passage, part }) => {
    const { source, content } = passages[passage] as (typeof passages)[number]
    return [source, content.slice(part.start, part.end)]
  })

test('only documents that the question names are listed, each with its central sentence', () => {
  assert.equal(list('Summarize the leave policy', [README, TRAVEL, LEAVE]), [
    ['leave-policy.md', 'Leave is thirty days a year, and leave that is not taken is lost in March.'],
  ])
})

test('documents of a comparison take turns', () => {
  const more = { ...LEAVE, content: 'Leave is asked for in writing. Leave needs the consent of your manager.' }
  const sources = list('Compare the leave policy and the travel policy', [LEAVE, more, TRAVEL]).map(([source]) => source)
  assert.equal([sources.slice(0, 2).sort(), sources.length], [['leave-policy.md', 'travel-policy.md'], 3])
})

test('if no document is named, those that are about the question are listed, not a README', () => {
  const sources = list('Give me an overview of trips and leave', [README, TRAVEL, LEAVE]).map(([source]) => source)
  assert.equal(sources.sort(), ['leave-policy.md', 'travel-policy.md'])
})

test.run()
