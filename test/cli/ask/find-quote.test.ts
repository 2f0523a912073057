import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { findCitedText } from '../../../src/cli/ask/find-quote.ts'

const test = suite('findCitedText')

test('a quote that contains quotation marks is found as a whole', () => {
  assert.is(findCitedText('**ten**\n\n“See "Leave policy" for ten days.” [1]', 1), 'See "Leave policy" for ten days.')
  assert.is(findCitedText('“Read “Who may apply” first.” [1]\n\n“Ask “the “old” warden”.” [2]', 2), 'Ask “the “old” warden”.')
})

test('other quotation marks and sentences without them are found', () => {
  assert.is(findCitedText('He wrote „zehn Tage“ [1].', 1), 'zehn Tage')
  assert.is(findCitedText('It says "ten days" [1].', 1), 'ten days')
  assert.is(findCitedText('It is closed. Leave is ten days [1].', 1), 'Leave is ten days')
})

test.run()
