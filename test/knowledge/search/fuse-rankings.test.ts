import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { fuseRankings } from '../../../daemon/knowledge/search/fuse-rankings.ts'

const test = suite('combining semantic and full-text search')

const byMeaning = new Map([
  ['meant', 0.7],
  ['both', 0.6],
  ['worded', 0.1],
])
const rank = (fullText: [string, number][], trust?: number) =>
  fuseRankings('heating repair costs', byMeaning, new Map(fullText), trust).map(({ id }) => id)

const WORDED: [string, number][] = [
  ['worded', 12],
  ['both', 6],
  ['meant', 1],
]

test('what a query means counts more if no passage has its words', () => {
  assert.equal(rank(WORDED), ['both', 'meant', 'worded'])
  assert.equal(rank(WORDED.map(([id, score]) => [id, score / 10])), ['meant', 'both', 'worded'])
})

test('both count the same for a query in another language than English', () => {
  const scores = fuseRankings('Was kostet die Reparatur der Heizung?', byMeaning, new Map(WORDED)).map(({ id, score }) => [id, score])
  assert.equal(Object.fromEntries(scores).meant, 0.5)
  assert.equal(Object.fromEntries(scores).worded, 0.5)
})

test('only words count in a language that the embedding model does not support', () => {
  assert.equal(rank(WORDED, 0), ['worded', 'both', 'meant'])
})

test('a search without hits of one kind ranks those of the other', () => {
  assert.equal(rank([]), ['meant', 'both', 'worded'])
  assert.equal(
    fuseRankings('costs', new Map(), new Map([['a', 1]])).map(({ id }) => id),
    ['a'],
  )
})

test.run()
