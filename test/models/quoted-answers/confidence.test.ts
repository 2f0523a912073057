import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { answerQuestion } from '../../../daemon/models/quoted-answers/answer-question.ts'
import { createScriptedReader } from './scripted-reader.ts'

const test = suite('confidence of answers')

const createPassage = (content: string, source = 'a.md') => ({ content, source, page: 1 })

test('an uncertain answer is given if no other passage says something else', async () => {
  const ask = async (certainty: number, ...passages: [content: string, answer: string][]) => {
    const given = passages.map(([content], index) => createPassage(content, `${index}.md`))
    const find = (read: string) => ({ answer: passages.find(([content]) => read.endsWith(content))?.[1] ?? '', certainty })
    return (await answerQuestion(createScriptedReader(find), { text: 'How much leave is there?', passages: given })).text
  }
  const days = 'Leave is thirty days a year for everyone.'
  // The least certainty with which the sentence alone is quoted.
  const certainty = await findLeast(async (each) => !/^I found/.test(await ask(each, [days, 'thirty days'])))
  const repeated: [string, string] = [`A notice. ${days}`, 'thirty days']
  assert.match(await ask(certainty, [days, 'thirty days'], repeated), /“.*thirty days/, 'repeated facts are not doubted')
  assert.match(await ask(certainty, [days, 'thirty days'], ['You may leave at nine each day.', 'at nine']), /^I found no answer/)
})

/** Returns the lowest certainty of the reader for which something is true. */
async function findLeast(isTrue: (certainty: number) => Promise<boolean>): Promise<number> {
  for (let certainty = -6; certainty < 10; certainty += 0.25) if (await isTrue(certainty)) return certainty
  throw new Error('It is not true for any certainty.')
}

test('an answer is certain, probable or none; a probable one is only a quote', async () => {
  const passages = [createPassage('Leave is thirty days a year for everyone. Ask for it in writing.')]
  const rate = async (certainty: number) => {
    const reader = createScriptedReader(() => ({ answer: 'thirty days', certainty }))
    return answerQuestion(reader, { text: 'How much leave is there?', passages })
  }
  const quote = '“Leave is thirty days a year for everyone.” [1]'
  assert.equal(await rate(10), { text: `**thirty days**\n\n${quote}`, confidence: 'certain' })
  const least = await findLeast(async (certainty) => (await rate(certainty)).confidence !== 'none')
  assert.equal(await rate(least), { text: `Probably: ${quote}`, confidence: 'probable' })
})

test('an answer that is hardly probable is refused in a passage about something else', async () => {
  const passages = [createPassage('Leave is thirty days a year for everyone.')]
  const rate = async (certainty: number, similarity?: number) => {
    const reader = createScriptedReader(() => ({ answer: 'thirty days', certainty }), similarity)
    return (await answerQuestion(reader, { text: 'How much leave is there?', passages })).confidence
  }
  const least = await findLeast(async (certainty) => (await rate(certainty)) !== 'none')
  assert.is(await rate(least, 0.1), 'none')
  assert.is(await rate(least - 1, 0.7), 'probable')
  assert.is(await rate(10, 0), 'certain', 'the reading model is sure')
})

test('an answer to a question with a name that no passage contains is at most probable', async () => {
  const passages = [createPassage('Leave is thirty days a year for everyone in Norway.')]
  const reader = createScriptedReader(() => ({ answer: 'thirty days' }))
  const rate = async (text: string, followUp?: string) => (await answerQuestion(reader, { text, followUp, passages })).confidence
  assert.is(await rate('How much leave is there in Norway?'), 'certain')
  assert.is(await rate('How much leave is there in Sweden?'), 'probable')
  assert.is(await rate('How much leave is there for part-timers?', 'And for part-timers?'), 'none')
})

test('an answer to "why" without a reason is at most probable', async () => {
  const rate = async (content: string) =>
    (
      await answerQuestion(
        createScriptedReader(() => ({ answer: 'voted against' })),
        { text: 'Why did they not join?', passages: [createPassage(content)] },
      )
    ).confidence
  assert.is(await rate('They did not join: the village voted against it.'), 'probable')
  assert.is(await rate('They did not join because the village voted against it.'), 'certain')
})

test.run()
