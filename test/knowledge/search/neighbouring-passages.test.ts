import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { cutNeighbours } from '../../../daemon/knowledge/search/neighbouring-passages.ts'

const test = suite('passages around one that was found')

const TEXT = 'One. Two. Three. Four. Five. Six.'
const createRow = (words: string) => {
  const start = TEXT.indexOf(words)
  return { start, end: start + words.length, content: words, headings: '' }
}
const cut = (before: string[], found: string, after: string[]) => {
  const neighbours = cutNeighbours(before.map(createRow), after.map(createRow), createRow(found))
  return [neighbours.before, neighbours.after].map((passages) => passages.map(({ content, gap }) => `${content}|${gap}`).join(' '))
}

test('what is between passages is counted', () => {
  assert.equal(cut(['Two.', 'One.'], 'Three.', ['Four.', 'Six.']), ['One.|1 Two.|1', 'Four.|1 Six.|7'])
})

test('text that several passages contain is there once', () => {
  const around = cut(['Two. Three.', 'One. Two.'], 'Three. Four.', ['Four. Five.', 'Five. Six.'])
  assert.equal(around, ['One. |0 Two. |0', ' Five.|0  Six.|0'])
})

test('a passage within another one adds nothing', () => {
  const around = cut(['One. Two. Three.', 'Two.'], 'Four.', ['Five. Six.', 'Five.'])
  assert.equal(around, ['|0 One. Two. Three.|1', 'Five. Six.|1 |0'])
})

test.run()
