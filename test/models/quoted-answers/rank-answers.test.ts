import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { answerQuestion } from '../../../daemon/models/quoted-answers/answer-question.ts'
import { createScriptedReader, type Finding } from './scripted-reader.ts'

const test = suite('choosing the answer')

async function answer(content: string, finding: Finding, text: string, followUp?: string) {
  const reader = createScriptedReader(() => finding)
  return (await answerQuestion(reader, { text, followUp, passages: [{ content, source: 'a.md', page: 1, headings: [] }] })).text
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

test('an item is also about what the sentence above its list says', async () => {
  const content = 'Each outing is written down before it begins.\n\nAfter every outing:\n\n1. Lift the boat out.\n2. Wash it.'
  const finding = { answer: 'Each outing is written down', certainty: 10, others: { 'Lift the boat out': 9.8 } }
  const text = await answer(content, finding, 'What has to be done after every outing?')
  assert.match(text, /“After every outing:/)
})

test('a question for what is not the case is answered by what denies something, or is announced by it', async () => {
  const content = 'You must wear:\n\n- glasses\n- a mask\n\nThese are not allowed:\n\n- sleeves\n- music'
  const finding = { answer: 'a mask', certainty: 10, others: { music: 8 } }
  assert.match(await answer(content, finding, 'What is not allowed?'), /^“These are not allowed:” \[1\]\n\n- sleeves\n- music$/)
  assert.match(await answer(content, finding, 'What do I need?'), /“You must wear: … a mask” \[1\]$/)
})

test('a follow-up question is answered by what mentions the case that it adds', async () => {
  const content = 'Interpreters are requested three days ahead. The hall is on floor 2. Sign language takes ten days to arrange.'
  const finding = { answer: 'three days', certainty: 10, others: { 'ten days': 8 } }
  const question = 'How far ahead must I ask for sign language?'
  assert.match(await answer(content, finding, question, 'And for sign language?'), /“Sign language takes ten days to arrange\.” \[1\]$/)
  assert.match(await answer(content, finding, 'How far ahead must I ask?'), /three days ahead/)
})

test('a heading above mentions the case, too', async () => {
  const content = '## Part-timers\n\nThe holiday is 14 days.\n\n## Pay\n\nPart-timers get 3 cakes.'
  const finding = { answer: '14 days', certainty: 10, others: { '3 cakes': 8 } }
  assert.match(await answer(content, finding, 'How long is the holiday for part-timers?', 'And part-timers?'), /14 days/)
})

test('a condition with a comparison does not compare', async () => {
  const finding = { answer: 'TooLarge' }
  const text = await answer(
    'If a larger file is sent, TooLarge is raised.',
    finding,
    'Which error is raised if a file is bigger than allowed?',
  )
  assert.match(text, /“If a larger file is sent/)
})

test('a sentence that only introduces code answers no question for a fact', async () => {
  const content = 'The files are written to the folder of the archive. More on this below.\n\nAn example for files:\n\n```\nls\n```'
  const finding = { answer: 'example', certainty: 10, others: { 'folder of the archive': 9.5 } }
  assert.match(await answer(content, finding, 'Where are the files written?'), /folder of the archive/)
})

test('an older protocol, VS Code and comparing files compare nothing', async () => {
  for (const [content, found, question] of [
    ['allowHttp1 lets clients fall back to HTTP/1.', 'allowHttp1', 'Which option falls back to the older protocol?'],
    ['In VS Code, choose Attach.', 'choose Attach', 'How do I attach in VS Code?'],
    ['The comparison data comes from Radford.', 'Radford', 'Where does the comparison data come from?'],
    ['Files are compared with diff.', 'diff', 'How do I compare two files?'],
    ['An overview is shown by stats.', 'stats', 'Which command shows an overview?'],
  ] as const)
    assert.not.match(await answer(content, { answer: found }, question), /need a chat model/, question)
})

test('a question without its mark is read with it', async () => {
  const reader = createScriptedReader(() => ({ answer: 'not' }))
  for (const text of ['May guests use it', 'where is it ', 'printer of guests'])
    await answerQuestion(reader, { text, passages: [{ content: 'Guests may not use it.', source: 'a.md', page: 1, headings: [] }] })
  assert.equal(reader.questions, ['May guests use it?', 'where is it?', 'printer of guests'])
})

test('a question for yes or no is answered by a statement in its own words', async () => {
  const content = '# Paths\n\n- paths may contain stars\n- paths are case sensitive'
  const finding = { answer: 'stars', certainty: 10, others: { 'case sensitive': 9.8 } }
  assert.match(await answer(content, finding, 'Are paths case sensitive?'), /^\*\*Yes\*\*\n\n“paths are case sensitive” \[1\]$/)
  // A table of contents says neither yes nor no.
  for (const title of ['Case sensitive paths', 'Are paths case sensitive', 'Whether paths are case sensitive']) {
    const others = { [title]: 9.8 }
    assert.match(await answer(`- Paths may contain stars\n- ${title}`, { ...finding, others }, 'Are paths case sensitive?'), /stars/)
  }
})

test('a sentence that announces code does not answer a question for yes or no', async () => {
  const content = 'A target may not be passed as a separate argument too. It supports the same options:\n\n```js\nopen({ target })\n```'
  const finding = { answer: 'supports the same options', certainty: 10, others: { 'may not be passed': 8 } }
  assert.match(await answer(content, finding, 'Can I pass a target as a separate argument?'), /“A target may not be passed/)
  const plugins = 'Yes, plugins are supported:\n\n```js\nload()\n```\n\nA plugin is a function.'
  const found = { answer: 'plugins are supported', certainty: 10, others: { 'a function': 9 } }
  assert.match(await answer(plugins, found, 'Are plugins supported?'), /“Yes, plugins are supported:/)
})

test('an answer in a heading is quoted with the sentence of its section that has the words of the question', async () => {
  const content = '## Senior, level 3\n\n- Works without supervision.\n- Trains others on the console.\n\n## Lead, level 4\n\n- Console.'
  assert.is(
    await answer(content, { answer: 'level 3' }, 'Which level trains others?'),
    '**level 3**\n\n“Trains others on the console.” [1]',
  )
  assert.match(await answer(content, { answer: 'level 3' }, 'Which level works on weekends?'), /“Works without supervision.”/)
  const plans = '## Basic plan\n\nFor people who need little and like it simple. Unlike Pro, it has no phone support.'
  assert.not.match(await answer(plans, { answer: 'Basic plan' }, 'Which plan has phone support?'), /Unlike Pro/)
})

test('a sentence that counts what a question asks for is quoted with the next one', async () => {
  const content = 'A code is urgent. We have three levels of alarm. Red is an emergency, and yellow can wait. It rains.'
  const finding = { answer: 'three levels' }
  assert.match(await answer(content, finding, 'Which levels are there?'), /“We have three levels of alarm. Red .* can wait.” \[1\]$/)
  assert.match(await answer(content, finding, 'How many levels are there?'), /“We have three levels of alarm.” \[1\]$/)
  assert.match(await answer(content, finding, 'What are the codes?'), /“We have three levels of alarm.” \[1\]$/)
  const named = 'The office has three levels: red, yellow and green. Lunch is served at noon.'
  assert.not.match(await answer(named, { answer: 'three levels' }, 'What are the levels?'), /Lunch/)
})

test.run()
