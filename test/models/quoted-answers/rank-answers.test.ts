import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { answerQuestion } from '../../../daemon/models/quoted-answers/answer-question.ts'
import { createScriptedReader, type Finding } from './scripted-reader.ts'

const test = suite('choosing the answer')

async function answer(content: string, finding: Finding, text: string) {
  const reader = createScriptedReader(() => finding)
  return (await answerQuestion(reader, { text, passages: [{ content, source: 'a.md', page: 1, headings: [] }] })).text
}

test('the next sentence is quoted too if it has a word of the question that the answer lacks', async () => {
  const finding = { answer: '35 euros', certainty: 10, others: { '20 euros': 8 } }
  assert.is(
    await answer('A seat in the hall costs 35 euros. Students pay 20 euros. It rains.', finding, 'How much is a seat for students?'),
    '“A seat in the hall costs 35 euros. Students pay 20 euros.” [1]',
  )
  assert.is(
    await answer('A seat in the hall costs 35 euros. Students pay 20 euros. It rains.', finding, 'How much is a seat?'),
    '**35 euros**\n\n“A seat in the hall costs 35 euros.” [1]',
  )
})

test('a question for what is not the case is answered by what denies something, or is announced by it', async () => {
  const content = 'You must wear:\n\n- glasses\n- a mask\n\nThese are not allowed:\n\n- sleeves\n- music'
  const finding = { answer: 'a mask', certainty: 10, others: { music: 8 } }
  assert.match(await answer(content, finding, 'What is not allowed?'), /^“These are not allowed:” \[1\]\n\n- sleeves\n- music$/)
  assert.match(await answer(content, finding, 'What do I need?'), /“You must wear: … a mask” \[1\]$/)
})

test.run()
