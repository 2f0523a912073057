import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { compileNumberFormat } from '../../../../daemon/knowledge/readers/spreadsheets/number-format.ts'

const test = suite('number formats')

for (const [code, value, expected] of [
  ['General', 0.1 + 0.2, '0.3'],
  ['General" units"', 5, '5 units'],
  ['0.00', 1.005, '1.01'],
  ['0.00', -0.001, '0.00'],
  ['#,##0.00', 1_234_567.891, '1,234,567.89'],
  ['#,##0.00 "€"', 1234.5, '1,234.50 €'],
  ['[$€-407] #,##0.00', -1234.5, '-€ 1,234.50'],
  ['_-* #,##0.00 [$€-407]_-', 12.5, '12.50 €'],
  ['$#,##0', 1200, '$1,200'],
  ['#,##0.00;[Red](#,##0.00)', -5, '(5.00)'],
  ['#,##0;-#,##0;"-"', 0, '-'],
  ['0%', 0.256, '26%'],
  ['0.00%', 0.0475, '4.75%'],
  ['0.###', 1.5, '1.5'],
  ['000-00-0000', 123_456_789, '123-45-6789'],
  ['00000', 501, '00501'],
  ['0.0,,"M"', 12_345_678, '12.3M'],
  ['[>=1000]0.0,"k";0', 1500, '1.5k'],
  ['[>=1000]0.0,"k";0', 15, '15'],
  ['0.00E+00', 123_456, '1.23E+05'],
  ['# ?/?', 1.5, '1 1/2'],
  ['yyyy-mm-dd', 45_697, '2025-02-09'],
  ['dd.mm.yyyy hh:mm', 45_697.75, '09.02.2025 18:00'],
  ['d mmmm yyyy', 45_697, '9 February 2025'],
  ['[$-407]d. mmmm yyyy', 45_697, '9. Februar 2025'],
  ['mmm-yy', 45_697, 'Feb-25'],
  ['dddd', 45_697, 'Sunday'],
  ['h:mm AM/PM', 0.75, '6:00 PM'],
  ['[h]:mm:ss', 1.5, '36:00:00'],
  ['mm:ss.0', 0.001, '01:26.4'],
] as const)
  test(`${value} with the format ${code} is ${expected}`, () => {
    assert.is(compileNumberFormat(code)(value).text, expected)
  })

test('dates have an ISO 8601 value, in both date systems', () => {
  assert.equal(compileNumberFormat('d.m.yy')(45_697), { text: '9.2.25', value: '2025-02-09', isDate: true })
  assert.is(compileNumberFormat('d.m.yy', true)(44_235).value, '2025-02-09')
  assert.is(compileNumberFormat('d.m.yy h:mm')(45_697.5).value, '2025-02-09T12:00:00')
})

test('numbers that are no dates are shown as they are', () => {
  assert.is(compileNumberFormat('yyyy-mm-dd')(-1).text, '-1')
  assert.is(compileNumberFormat('yyyy-mm-dd')(1e300).text, '1e+300')
})

test('absurd formats are read in linear time', () => {
  for (const code of ['0'.repeat(100_000), ';'.repeat(100_000), '"'.repeat(100_000), '['.repeat(100_000), 'ymdhs'.repeat(20_000)])
    assert.type(compileNumberFormat(code)(1.5).text, 'string')
})

test.run()
