import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { findDecimalMark, isEmptyCell, parseBoolean, parseDate, parseDuration, parseNumber } from '../../daemon/tables/cells/parse-cell.ts'

const test = suite('cells')

for (const [text, value, unit, scale] of [
  ['42', 42, '', 0],
  ['-3.50', -3.5, '', 2],
  ['1,234,567', 1_234_567, '', 0],
  ['1.234,56', 1234.56, '', 2],
  ['89,90 €', 89.9, '€', 2],
  ["1'234.50 CHF", 1234.5, 'CHF', 2],
  ['$1,200.00', 1200, '$', 2],
  ['-€5', -5, '€', 0],
  ['(250)', -250, '', 0],
  ['12 %', 12, '%', 0],
  ['3.2 million', 3_200_000, '', 0],
  ['365 t', 365, 't', 0],
] as const)
  test(`${text} is the number ${value}`, () => {
    const number = parseNumber(text)
    assert.equal([number?.value, number?.unit, number?.scale, number?.isWhole], [value, unit, scale, true])
  })

test('with a decimal comma, points separate thousands', () => {
  assert.equal(
    ['1.500', '1.249,50 €', '0,125', '12', '1.234.567'].map((text) => parseNumber(text, true)?.value),
    [1500, 1249.5, 0.125, 12, 1_234_567],
  )
  assert.equal(['89,90', '1.249,50 €', '3.5', '1,200.00', '1.500', '1,500'].map(findDecimalMark), [
    'comma',
    'comma',
    'point',
    'point',
    undefined,
    undefined,
  ])
})

test('a number before other text is not the whole cell', () => {
  assert.equal(parseNumber('12 (see the notes below)')?.isWhole, false)
  assert.is(parseNumber('none of 12'), undefined)
})

for (const [text, iso] of [
  ['2024-03-05', '2024-03-05'],
  ['2024-03-05 14:30', '2024-03-05T14:30'],
  ['5 March 2024', '2024-03-05'],
  ['March 5, 2024', '2024-03-05'],
  ['Tue, Mar 5, 2024', '2024-03-05'],
  ['05.03.2024', '2024-03-05'],
  ['03/05/2024', '2024-03-05'],
  ['March 2024', '2024-03'],
] as const)
  test(`${text} is the date ${iso}`, () => {
    assert.equal(parseDate(text), { iso, isWhole: true })
  })

test('a date with slashes can have the day first', () => {
  assert.is(parseDate('25/12/2024', true)?.iso, '2024-12-25')
  assert.is(parseDate('25/12/2024'), undefined)
})

test('durations are seconds, marks are yes and no, and dashes are empty', () => {
  assert.is(parseDuration('1:02:03')?.value, 3723)
  assert.equal(['yes', 'No', 'true', 'maybe'].map(parseBoolean), [true, false, true, undefined])
  assert.equal(['', '–', 'n/a', '0'].map(isEmptyCell), [true, true, true, false])
})

test.run()
