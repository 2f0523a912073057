import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { answerQuestion } from '../../../daemon/models/quoted-answers/answer-question.ts'
import { createScriptedReader } from './scripted-reader.ts'

const test = suite('notice about the language of the documents')

const ENGLISH = 'Guests of the hostel are asked to leave the kitchen clean and to wash the dishes that they have used.'
const GERMAN = 'Die Gäste der Herberge werden gebeten, die Küche sauber zu verlassen und das Geschirr nicht auf dem Tisch zu lassen.'

async function ask(text: string, contents: string[]): Promise<string> {
  const passages = contents.map((content, index) => ({ content, source: `${index}.md`, page: 1, headings: [] }))
  return (
    await answerQuestion(
      createScriptedReader(() => undefined),
      { text, passages },
    )
  ).text
}

test('a refusal says which languages are read if the documents are in another one', async () => {
  for (const [question, document] of [
    ['Wer wäscht in der Herberge die Bettwäsche?', ENGLISH],
    ['Who washes the linen?', GERMAN],
    ['谁洗床单？', ENGLISH],
  ] as const)
    assert.match(await ask(question, [document]), /another language.*English.*cadre models discover --add.*--embedding-model MODEL/)
})

test('it does not if half of the passages are in the language of the question', async () => {
  assert.not.match(await ask('Who washes the linen?', [ENGLISH]), 'another language')
  assert.not.match(await ask('Who washes the linen?', [ENGLISH, GERMAN]), 'another language')
  assert.not.match(await ask('Wer wäscht in der Herberge die Bettwäsche?', [GERMAN]), 'another language')
})

test('names and a repeated word are no other language', async () => {
  const rota =
    '| 5 Mar | Jan van Aken | Loading van | No |\n| 6 Mar | Petra Van Dijk | Loading van | No |\n| 7 Mar | Los Pinos | Cleaning van | No |'
  assert.not.match(await ask('What hourly wage does Jan get?', [rota]), 'another language')
})

test.run()
