import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { findItemName, findLead, findLists } from '../../../daemon/models/quoted-answers/lists/find-list.ts'
import { readItems } from '../../../daemon/models/quoted-answers/lists/read-items.ts'
import { parseBlocks } from '../../../daemon/models/quoted-answers/parse-passage.ts'

const test = suite('where lists begin and end')

/** Returns the text of each list. */
const list = (content: string) => {
  const blocks = parseBlocks(content)
  return findLists(content, blocks).map(({ first, last }) => content.slice(blocks[first]?.start, blocks[last]?.end))
}

test('a paragraph or code belongs to an item if it is indented, or if the numbers go on below it', () => {
  const indented = '- a\n\n  More.\n\n- b'
  assert.equal(list(`It:\n\n${indented}\n\nNot this.`), [indented])
  const numbered = '1. a\n\n```sh\nrun\n```\n\n2. b\n\nNote.\n\n3. c:\n\n```sh\nend\n```'
  assert.equal(list(`It:\n\n${numbered}\n\nNot this.`), [numbered])
  assert.equal(list('- tools\n- food\n\nIt was opened in\n\n1987. It has two floors.'), ['- tools\n- food', '1987. It has two floors.'])
  assert.equal(list('   Guests bring:\n\n   * food\n   * water\n\n   Smoking is forbidden.'), ['   * food\n   * water'])
})

test('a list ends at another announcement, a rule, other marks and numbers that fall back', () => {
  assert.equal(list('1. a\n2. b\n\nForbidden:\n\n3. c\n4. d'), ['1. a\n2. b', '3. c\n4. d'])
  assert.equal(list('- a\n- b\n\n---\n\n- c'), ['- a\n- b', '- c'])
  assert.equal(list('- a\n- b\n1. c\n2. d\n1. e'), ['- a\n- b', '1. c\n2. d', '1. e'])
})

test('bullets that are not indented belong to the step above them if the numbers go on below', () => {
  const steps = '1. a\n2. b\n```sh\nrun\n```\n- one\n- two\n3. c'
  assert.equal(list(`${steps}\n\nText.`), [steps])
  const blocks = parseBlocks(steps)
  assert.equal(readItems(steps, blocks, { first: 0, last: blocks.length - 1 }), ['1. a', '2. b\n```sh\nrun\n```\n- one\n- two', '3. c'])
  assert.equal(list('1. a\n- one\n3. c'), ['1. a', '- one', '3. c'])
})

test('the name of an item is that of its paragraphs', () => {
  const content = '- `retries`: How often.\n\n  Default: 5\n\nText.'
  const blocks = parseBlocks(content)
  assert.equal(
    blocks.map((_, index) => findItemName(content, blocks, index)),
    [undefined, 'retries', undefined],
  )
})

test('an item below another one is announced by it', () => {
  const content = 'Allowed:\n\n- food\n- Not allowed:\n  - knives\n  - alcohol\n- tools'
  const blocks = parseBlocks(content)
  const leads = blocks.map((block, index) => [content.slice(block.start, block.end).trim(), findLead(content, blocks, index)])
  assert.equal(Object.fromEntries(leads), {
    'Allowed:': undefined,
    '- food': 'Allowed:',
    '- Not allowed:': 'Allowed:',
    '- knives': 'Not allowed:',
    '- alcohol': 'Not allowed:',
    '- tools': 'Allowed:',
  })
})

test('time grows with the text', () => {
  assert.is(list('- a\n'.repeat(100_000)).length, 1)
  assert.is(list('- a\n\nText.\n\n'.repeat(20_000)).length, 20_000)
})

test.run()
