import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { CitationRegistry, findCitedNumbers, formatPassages, removeCitationMarkers } from '../../../daemon/conversations/reply/citations.ts'

const test = suite('citation markers')
const passage = (content: string, metadata: object = {}) => ({
  content,
  score: 0.5,
  metadata: { source: 'a.md', page: 2, document_id: 'doc_1', ...metadata },
})

test('citation markers are found in all common notations', () => {
  const cases: [string, number[]][] = [
    ['Twenty-five days [1].', [1]],
    ['Both [1][3] and [2].', [1, 2, 3]],
    ['Both [1, 3] and [2; 4].', [1, 2, 3, 4]],
    ['A range [2-4] and [6–7].', [2, 3, 4, 6, 7]],
    ['leave[12], no [x], [1a] or [ 5 ], [].', [12]],
    ['[99999] and [3-1]', []],
    ['Call it so [2]:\n```js\nargs[1]\n```\nand then [3].\n~~~\nlist[4]', [2, 3]],
    ['', []],
  ]
  for (const [text, numbers] of cases)
    assert.equal(
      [...findCitedNumbers(text)].sort((a, b) => a - b),
      numbers,
      text,
    )
})

test('each passage is numbered once, in the order of retrieval', () => {
  const citations = new CitationRegistry()
  const numbers = [
    citations.add(passage('one', { start: 0, end: 3 })),
    citations.add(passage('two', { start: 4, end: 7 })),
    citations.add(passage('one', { start: 0, end: 3 })),
    citations.add(passage('one', { document_id: 'doc_2' })),
  ].map(({ index }) => index)
  assert.equal(numbers, [1, 2, 1, 3])
  assert.equal(
    citations.listFor('As [2] says, and [3]').map(({ cited }) => cited),
    [false, true, true],
  )
})

test('a citation has the location of its passage', () => {
  const [citation] = (() => {
    const citations = new CitationRegistry()
    citations.add(passage('one', { start: 3, end: 6, content_hash: 'abc', type: 'md' }))
    return citations.listFor('')
  })()
  assert.equal(citation, {
    index: 1,
    source: 'a.md',
    page: 2,
    document_id: 'doc_1',
    content: 'one',
    score: 0.5,
    cited: false,
    start: 3,
    end: 6,
    content_hash: 'abc',
  })
  assert.is(formatPassages([citation as never]), '[1] a.md, page 2\none')
})

test('citation markers are removed from earlier replies', () => {
  assert.is(removeCitationMarkers('Twenty-five days [1]. Or [2, 3], maybe.\nYes [1][2]'), 'Twenty-five days. Or, maybe.\nYes')
})

test.run()
