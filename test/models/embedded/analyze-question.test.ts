import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { analyzeQuestion, extractContentWords } from '../../../daemon/models/embedded/analyze-question.ts'

const test = suite('question analysis')

test('the words of a question determine its kind', () => {
  const kinds = {
    definition: ['What is a lantern?', "what's a lantern", 'Who are the wardens?', 'What does lux mean?', 'explain lanterns'],
    way: ['How do I light a lantern?', 'how to light a lantern', 'How can we see at night?', 'Where can I buy oil?'],
    amount: ['How many lanterns are there?', 'What is the maximum height of a lantern?'],
    duration: ['how long does oil last', 'How often is it lit?'],
    moment: ['When are lanterns lit?', 'In which year was the tower built?'],
    person: ['Who lights the lanterns at night?'],
    other: ['Are lanterns lit at night?', 'Which oil is used for the lanterns in the tower of the harbour?'],
  }
  for (const [kind, questions] of Object.entries(kinds))
    for (const question of questions) assert.is(analyzeQuestion(question).kind, kind, question)
})

test('different forms of a word have the same stem', () => {
  for (const forms of [
    'store stores stored storing',
    'key keys',
    'retry retries retried',
    'add adds added adding',
    'stop stopped stopping',
    'process processes',
  ])
    assert.is(new Set(extractContentWords(forms)).size, 1, forms)
  assert.equal(extractContentWords('access'), ['access'])
  assert.equal(extractContentWords('RATE_LIMIT'), ['rate_limit', 'rat', 'limit'])
})

test.run()
