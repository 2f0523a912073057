import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { ChatMessage } from '../../daemon/models/chat-model.ts'
import { resolveLastQuestion } from '../../daemon/models/resolve-follow-up.ts'

const test = suite('follow-up questions')

/** Questions and answers in turn, ending with the question to resolve. */
const resolve = (...texts: string[]) =>
  resolveLastQuestion(texts.map((content, index): ChatMessage => ({ role: index % 2 === 0 ? 'user' : 'assistant', content })))

test('a question that makes sense alone is unchanged', () => {
  assert.is(resolve('What is its default?'), 'What is its default?')
  assert.is(resolve('What does bodyLimit do?', '…', 'How do I set the port of the server?'), 'How do I set the port of the server?')
  assert.is(resolve('What does bodyLimit do?', '…', 'What is the default of maxParamLength?'), 'What is the default of maxParamLength?')
})

test('a pronoun is replaced by the name that the question before is about', () => {
  assert.is(resolve('What does `bodyLimit` do?', '…', 'What is its default?'), 'What is bodyLimit’s default?')
  assert.is(resolve('What does --verbose mean?', '…', 'How do I turn it off?'), 'How do I turn --verbose off?')
})

test('the short answer is the topic if it is a name', () => {
  assert.is(resolve('How do I limit the body?', '**bodyLimit**\n\n“…” [1]', 'What is its default?'), 'What is bodyLimit’s default?')
})

test('a question without a subject of its own gets the words of the question before', () => {
  assert.is(resolve('How many days of leave do I get?', '**30**', 'And in Germany?'), 'And in Germany (days leave)?')
})

test('a chain of follow-up questions keeps its topic', () => {
  assert.is(
    resolve('What does bodyLimit do?', '…', 'What is its default?', '**1048576**', 'Can it be changed?'),
    'Can bodyLimit be changed?',
  )
})

test.run()
