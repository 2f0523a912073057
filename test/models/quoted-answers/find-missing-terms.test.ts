import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { findMissingTerm, isMissingCase } from '../../../daemon/models/quoted-answers/question/find-missing-terms.ts'

const test = suite('missing terms')
const texts = [
  '# Leave\n\nFull-time staff in Norway have 25 days of leave. Part of the time can be taken in 2026.',
  'A manual of the PDF reader.',
]

test('names, numbers, years and places that no text contains are missing', () => {
  assert.ok(findMissingTerm('How much leave is there in Sweden?', texts))
  assert.ok(findMissingTerm('How much leave is there in 2027?', texts))
  assert.ok(findMissingTerm('How many people have 30 days?', texts))
  assert.not(findMissingTerm('How much leave is there in Norway in 2026?', texts))
  assert.not(findMissingTerm('Where are the PDFs?', texts), 'a plural')
  assert.not(findMissingTerm('Who gets leave of two weeks?', texts), 'small words are no names')
})

test('a misspelt name is no missing name, and numbers and days are no names', () => {
  assert.is(findMissingTerm('How much leave is there in Sweden?', texts), 'name')
  assert.is(findMissingTerm('How much leave is there in the US?', texts), 'name', 'also if it is written as a small word is')
  assert.is(findMissingTerm('How much leave is there in Norwya?', texts), 'other', 'it may still be another name')
  assert.is(findMissingTerm('Can I take leave on Mondays in 2027?', texts), 'other')
  assert.is(findMissingTerm('How much leave is there for part-timers?', texts), 'other')
})

test('a case at the end of the question is missing if no text mentions it', () => {
  assert.ok(findMissingTerm('How much leave is there for part-timers?', texts))
  assert.not(findMissingTerm('How much leave is there for full-timers?', texts))
  assert.not(findMissingTerm('What is the manual for?', texts))
})

test('the case of a follow-up question is missing if none of its words is mentioned', () => {
  assert.ok(isMissingCase('And for part-timers?', texts), 'not "part of the time"')
  assert.not(isMissingCase('And for full-time staff?', texts))
  assert.not(isMissingCase('And then?', texts))
  assert.not(isMissingCase('', texts))
})

test.run()
