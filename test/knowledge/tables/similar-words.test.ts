import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { askTables } from '../../../daemon/knowledge/tables/ask-tables.ts'
import type { TableStore } from '../../../daemon/knowledge/tables/table-store.ts'
import { WordVectors } from '../../../daemon/knowledge/tables/word-vectors.ts'
import { formatComputations } from '../../../daemon/models/quoted-answers/format-computation.ts'
import { chooseMeanings, type Meaning } from '../../../daemon/tables/similarity/choose-meanings.ts'
import { loadWeights } from '../../../daemon/tables/weights.ts'
import { openTables } from './open-tables.ts'

const test = suite('words that mean names of tables')
const weights = loadWeights()
let file: TableStore
let remove: () => void

const DOCUMENTS = {
  'concerts.csv': `Date,Band,Hall,Spectators,Takings EUR,Status,Wheelchair access,Manager
2026-03-01,Nordwind,Old Mill,220,3300.00,held,yes,Ada Krol
2026-03-08,Kestrel,Old Mill,180,2700.00,held,no,Ben Ott
2026-03-15,Nordwind,Quay Hall,410,6150.00,held,yes,Ada Krol
2026-03-22,Tin Roof,Quay Hall,0,0.00,abandoned,no,Ben Ott
2026-03-29,Kestrel,Quay Hall,0,0.00,abandoned,yes,Ada Krol
`,
}

test.before(async () => {
  ;({ file, remove } = await openTables(DOCUMENTS))
})
test.after(() => remove())

const ask = (question: string, meanings: Meaning[] = []) =>
  askTables(question, [file], weights, undefined, new Date('2026-11-18T12:00:00'), meanings)
const listNames = (question: string, phrase: string) => ask(question).unclear?.find((each) => each.phrase === phrase)?.names

test('a word that names nothing is compared with what it can mean: a measure, a column, or also a kind or state', () => {
  assert.equal(listNames('How many concerts were scrapped?', 'scrapped'), [
    'Band',
    'Hall',
    'Spectators',
    'Takings EUR',
    'Status',
    'Wheelchair access',
    'Manager',
    'Nordwind',
    'Kestrel',
    'Tin Roof',
    'Old Mill',
    'Quay Hall',
    'held',
    'abandoned',
  ])
  assert.equal(listNames('Which band had the most onlookers?', 'onlookers'), ['Spectators', 'Takings EUR'])
  assert.equal(listNames('How many concerts per venue?', 'venue'), ['Band', 'Hall', 'Status', 'Wheelchair access', 'Manager'])
})

test('a verb is compared with its particle', () => {
  assert.equal(
    ask('How many concerts were axed off?').unclear?.map(({ phrase }) => phrase),
    ['axed', 'axed off'],
  )
})

test('names, questions that are answered, and questions about something else have no unclear words', () => {
  for (const question of [
    'How many concerts did Zubrowka give?',
    'How many concerts were held?',
    'Where do penguins hibernate?',
    'How do I book a concert with a choir?',
  ])
    assert.is(ask(question).unclear, undefined, question)
})

test('the meaning is used, said, and makes the answer probable', () => {
  const { computations } = ask('How many concerts were scrapped?', [{ phrase: 'scrapped', name: 'abandoned' }])
  assert.equal(computations[0]?.values, ['2'])
  assert.is(
    computations[0]?.interpretation,
    'Counted the rows of concerts.csv where Status is abandoned. “scrapped” was taken to mean abandoned.',
  )
  assert.match(formatComputations(computations), /^Probably: \*\*2\*\*\n\n/)
  const most = ask('Which band had the most onlookers?', [{ phrase: 'onlookers', name: 'Spectators' }])
  assert.equal(most.computations[0]?.values[0], 'Nordwind')
})

test('an answer that does not use the meaning is no answer', () => {
  assert.equal(ask('How many concerts were held politely?', [{ phrase: 'politely', name: 'Hall' }]).computations, [])
})

/** A vector whose product with that of "word" is the similarity. */
const createVector = (similarity: number) => Float32Array.from([similarity, Math.sqrt(1 - similarity * similarity)])

test('only a name that is similar, and clearly more similar than others, is the meaning', () => {
  const choose = (first: number, second: number) =>
    chooseMeanings(
      [{ phrase: 'word', names: ['a', 'b'], minSimilarity: 0.5 }],
      new Map([
        ['word', createVector(1)],
        ['a', createVector(first)],
        ['b', createVector(second)],
      ]),
    )
  assert.equal(choose(0.6, 0.4), [{ phrase: 'word', name: 'a' }])
  assert.equal(choose(0.6, 0.58), [])
  assert.equal(choose(0.45, 0.1), [])
})

test('of phrases that share a word, the more similar one has a meaning', () => {
  const vectors = new Map([
    ['called', createVector(0.6)],
    ['called off', createVector(0.9)],
    ['cancelled', createVector(1)],
  ])
  const unclear = ['called', 'called off'].map((phrase) => ({ phrase, names: ['cancelled'], minSimilarity: 0.5 }))
  assert.equal(chooseMeanings(unclear, vectors), [{ phrase: 'called off', name: 'cancelled' }])
})

test('a text is embedded once', async () => {
  const embedded: string[][] = []
  const vectors = new WordVectors(async (texts) => {
    embedded.push([...texts])
    return texts.map(() => createVector(1))
  })
  const unclear = [{ phrase: 'venue', names: ['Hall'], minSimilarity: 0.5 }]
  assert.equal(await vectors.chooseMeanings(unclear), [{ phrase: 'venue', name: 'Hall' }])
  await vectors.chooseMeanings([{ phrase: 'venues', names: ['Hall'], minSimilarity: 0.5 }])
  assert.equal(embedded, [['venue', 'Hall'], ['venues']])
})

test.run()
