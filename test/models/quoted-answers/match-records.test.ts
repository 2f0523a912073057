import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { answerQuestion } from '../../../daemon/models/quoted-answers/answer-question.ts'
import { createScriptedReader, type Finding } from './scripted-reader.ts'

const test = suite('rows and items that a question names')

async function answer(text: string, content: string, finding: Finding) {
  const passages = [{ content, source: 'a.md', page: 1, headings: ['a.md'] }]
  return (
    await answerQuestion(
      createScriptedReader(() => finding),
      { text, passages },
    )
  ).text
}

test('the row whose range has the number of the question is quoted', async () => {
  const table = '| Service | Leave |\n|---|---|\n| under 2 years | 20 days |\n| 2 to 5 years | 24 days |\n| over 5 years | 28 days |'
  const text = await answer('How much leave do I get after 7 years?', table, { answer: '20 days' })
  assert.is(text, 'Probably:\n\n| Service | Leave |\n|---|---|\n| over 5 years | 28 days |\n\n[1]')
})

test('a row with the number in another column is not the one with the range', async () => {
  const table = '| Service | Leave |\n|---|---|\n| up to 2 years | 4 weeks |\n| 2 to 5 years | 6 weeks |'
  assert.match(await answer('What leave do I get after 4 years?', table, { answer: '4 weeks' }), /2 to 5 years/)
  const amounts = '| Amount | Approved by |\n|---|---|\n| up to €500 | lead |\n| €1,000 – €5,000 | head |\n| over €5,000 | board |'
  assert.match(await answer('Who approves €2,500?', amounts, { answer: 'board' }), /€1,000 – €5,000/)
})

test('a name in the question is not answered by the item of another one', async () => {
  const items = '- `time.isoTime`: ISO 8601 in UTC.\n- `time.isoTimeNano`: RFC 3339 in UTC.'
  const finding = { answer: 'ISO 8601', certainty: 10, others: { 'RFC 3339': 6 } }
  assert.match(await answer('What format does isoTimeNano give?', items, finding), /RFC 3339/)
  assert.match(await answer('What format does it give?', items, finding), /ISO 8601/)
  assert.match(await answer('Which function is coarser than isoTimeNano?', items, finding), /ISO 8601/)
})

test('an option that the question names is not answered by the item of another one', async () => {
  const items =
    '- `-u`, `--max-unused`: how much to keep. It is 5 percent by default.\n- `--repack-small`: repacks. It is false by default.'
  const finding = { answer: 'false', certainty: 10, alternative: '5 percent' }
  assert.match(await answer('What is --max-unused by default?', items, finding), /It is 5 percent/)
  assert.match(await answer('What is --retry-lock by default?', items, finding), /false/)
  assert.match(await answer('Which option goes with --max-unused?', items, finding), /false/)
})

test.run()
