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
  assert.is(resolve('How many days of leave do I get?', '**30**', 'Why?'), 'Why (days leave)?')
})

test('another item takes the place of the one in the question before', () => {
  for (const [question, followUp, expected] of [
    ['What is the price of BW-101?', 'and of BW-102?', 'What is the price of BW-102?'],
    ['What is the price of BW-101 in Germany?', 'And BW-205?', 'What is the price of BW-205 in Germany?'],
    ['When was Ubuntu 16.10 released?', 'what about 18.04?', 'When was Ubuntu 18.04 released?'],
    ['What does bodyLimit do?', 'and maxParamLength?', 'What does maxParamLength do?'],
    ['How long is the warranty for lamps?', 'and for invoices?', 'How long is the warranty for invoices?'],
    ['How long is the warranty for lamps?', 'what about chairs?', 'How long is the warranty for chairs?'],
    ['How many days of leave do employees have?', 'And part-timers?', 'How many days of leave do part-timers have?'],
    ['How many days of annual leave are there?', 'And part-timers?', 'How many days of annual leave are there for part-timers?'],
    ['What is the share of women?', 'And men?', 'What is the share of men?'],
    ['What is the price of laptops?', 'And servers?', 'What is the price of servers?'],
    ['How long is the warranty for owners?', 'And tenants?', 'How long is the warranty for tenants?'],
    ['How many days of leave do I get?', 'And in Germany?', 'How many days of leave do I get in Germany?'],
    ['What is the capital of France?', 'And of Italy?', 'What is the capital of Italy?'],
    ['What is the capital of France?', 'And Italy?', 'What is the capital of Italy?'],
    ['What is the capital of France?', 'and the population?', 'What is the population of France?'],
    ['How much does the lamp cost?', 'and the chair?', 'How much does the chair cost?'],
    ['When is breakfast served?', 'And lunch?', 'When is lunch served?'],
    ['Was kostet die Lampe?', 'Und der Stuhl?', 'Was kostet der Stuhl?'],
    ['Wie lange gilt die Garantie für Lampen?', 'und für Stühle?', 'Wie lange gilt die Garantie für Stühle?'],
    ['Wie lange gilt die Garantie für Lampen?', 'Was ist mit Rechnungen?', 'Wie lange gilt die Garantie für Rechnungen?'],
    ['Wann wird die Rechnung verschickt?', 'und die Ware?', 'Wann wird die Ware verschickt?'],
  ] as const)
    assert.is(resolve(question, '…', followUp), expected)
})

test('a code alone takes the place of the one before', () => {
  assert.is(resolve('What does E2 mean?', '…', 'And E4?', '…', 'E8?'), 'What does E8 mean?')
})

test('a pronoun for a person is replaced', () => {
  assert.is(resolve('Who owns the runbook?', '…', 'What is her number?'), 'What is owns runbook’s number?')
})

test('"ones" stands for what the question before is about', () => {
  assert.is(resolve('When are log files rotated?', '…', 'How many old ones are kept?'), 'How many old log files rotated are kept?')
})

test('a follow-up question to a pasted text gets its topic', () => {
  const pasted = `What does bodyLimit do? ${'Here is my log. '.repeat(200)}`
  assert.is(resolve(pasted, '…', 'What is its default?'), 'What is bodyLimit’s default?')
  assert.is(resolve(pasted, '…', 'And maxParamLength?'), 'And maxParamLength (bodyLimit)?')
})

test('a follow-up question with a verb of its own keeps the topic', () => {
  assert.is(resolve('What does bodyLimit do?', '…', 'And what is the default?'), 'And what is the default (bodyLimit)?')
})

test('what a follow-up question repeats without "not" is asked without it', () => {
  assert.is(resolve('What is not allowed at the club?', '…', 'And what is allowed?'), 'And what is allowed (club)?')
  assert.is(
    resolve('What is not allowed at the club?', '…', 'And what is it when it rains?'),
    'And what is it when it rains (not allowed club)?',
  )
})

test('a chain of follow-up questions keeps its topic', () => {
  assert.is(
    resolve('What does bodyLimit do?', '…', 'What is its default?', '**1048576**', 'Can it be changed?'),
    'Can bodyLimit be changed?',
  )
})

test.run()
