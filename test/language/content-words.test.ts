import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { extractContentWords, isEnglish, removeForeignStopWords } from '../../daemon/language/content-words.ts'

const test = suite('content words')

test('words that English shares with other languages do not make a question English', () => {
  for (const question of [
    'In welchem Jahr zog die Firma um?',
    '¿Cuándo llegó a Roma?',
    'Quand a été fondée la ville ?',
    'Wer will am Montag kommen?',
  ])
    assert.is(isEnglish(question), false, question)
})

test('a question with a foreign name or without function words is English', () => {
  for (const question of ['Who was Ludwig Mies van der Rohe?', 'What is the capital of Pays de la Loire?', 'default port', 'In 1998?'])
    assert.is(isEnglish(question), true, question)
})

test('the stop words of other languages are removed from questions in these languages only', () => {
  const extract = (question: string) => extractContentWords(removeForeignStopWords(question))
  assert.equal(extract('Wann hat der Kaiser das Dorf besucht?'), ['kais', 'dorf', 'besucht'])
  assert.equal(extract('¿Dónde está el museo de la ciudad?'), ['está', 'museo', 'ciudad'])
  assert.equal(extract('Which hat is in the van?'), ['hat', 'van'])
})

test.run()
