import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { listSeriesDays, parseDateRange, splitWholeDays, splitWholeMonths } from '../../../daemon/validation/date-range.ts'

const test = suite('date range')
const parseRange = (start_date?: string, end_date?: string) =>
  parseDateRange({ ...(start_date ? { start_date } : {}), ...(end_date ? { end_date } : {}) })

test('a date range includes its last day or last millisecond', () => {
  assert.equal(parseRange('2026-01-31', '2026-01-31'), { from: '2026-01-31T00:00:00.000Z', until: '2026-02-01T00:00:00.000Z' })
  assert.equal(parseRange('2026-01-31T09:30Z', '2026-01-31T09:30:00Z'), {
    from: '2026-01-31T09:30:00.000Z',
    until: '2026-01-31T09:30:00.001Z',
  })
})

test('a date range that ends before it starts is rejected', () => {
  for (const [start, end] of [
    ['2026-02-01', '2026-01-31'],
    ['2026-01-31T10:00:00Z', '2026-01-31T09:59:59.999Z'],
  ]) {
    let error: { code?: string } = {}
    try {
      parseRange(start, end)
    } catch (thrown) {
      error = thrown as { code: string }
    }
    assert.is(error.code, 'VALIDATION_ERROR')
  }
})

test('open ends and years past 9999 are unbounded', () => {
  const { from, until } = parseRange(undefined, '9999-12-31')
  assert.ok(from < '0000-01-01' && until > '9999-12-31T23:59:59.999Z')
  assert.equal(parseRange(), { from, until })
  assert.equal(splitWholeDays({ from, until }).pieces, [])
  assert.equal(splitWholeMonths(splitWholeDays({ from, until }).days).days, [])
})

test('a date range is split into whole days and partial days', () => {
  assert.equal(splitWholeDays(parseRange('2026-01-30T09:30:00Z', '2026-02-02T12:00:00Z')), {
    days: { from: '2026-01-31', until: '2026-02-02' },
    pieces: [
      { from: '2026-01-30T09:30:00.000Z', until: '2026-01-31T00:00:00.000Z' },
      { from: '2026-02-02T00:00:00.000Z', until: '2026-02-02T12:00:00.001Z' },
    ],
  })
  assert.equal(splitWholeDays(parseRange('2026-01-30T09:30:00Z', '2026-01-30T12:00:00Z')).pieces, [
    { from: '2026-01-30T09:30:00.000Z', until: '2026-01-30T12:00:00.001Z' },
  ])
  assert.equal(splitWholeDays(parseRange('2026-01-30T09:30:00Z', '2026-01-30')).pieces, [
    { from: '2026-01-30T09:30:00.000Z', until: '2026-01-31T00:00:00.000Z' },
  ])
})

test('whole days are split into whole months and the days around them', () => {
  const months = (start?: string, end?: string) => splitWholeMonths(splitWholeDays(parseRange(start, end)).days)
  assert.equal(months('2025-12-31', '2026-02-01'), {
    months: { from: '2026-01', until: '2026-02' },
    days: [
      { from: '2025-12-31', until: '2026-01-01' },
      { from: '2026-02-01', until: '2026-02-02' },
    ],
  })
  assert.equal(months('2026-01-01', '2026-01-31'), { months: { from: '2026-01', until: '2026-02' }, days: [] })
  assert.equal(months('2026-01-02', '2026-01-31').days, [{ from: '2026-01-02', until: '2026-02-01' }])
  assert.equal(months(undefined, '2026-01-15'), {
    months: { from: '', until: '2026-01' },
    days: [{ from: '2026-01-01', until: '2026-01-16' }],
  })
})

test('a series lists all days of its range, including empty ones', () => {
  assert.equal(listSeriesDays(parseRange('2026-01-30', '2026-02-01'), ['2026-01-31'], '2026-06-01'), [
    '2026-01-30',
    '2026-01-31',
    '2026-02-01',
  ])
  assert.equal(listSeriesDays(parseRange('2026-01-30T10:00:00Z', '2026-01-31T10:00:00Z'), [], '2026-06-01'), ['2026-01-30', '2026-01-31'])
})

test('a series without dates runs from the first used day until today', () => {
  assert.equal(listSeriesDays(parseRange(), ['2026-01-30', '2026-01-31'], '2026-02-02T05:00:00.000Z'), [
    '2026-01-30',
    '2026-01-31',
    '2026-02-01',
    '2026-02-02',
  ])
  assert.equal(listSeriesDays(parseRange(), [], '2026-02-02'), [])
})

test('a series that is too long lists only used days', () => {
  assert.equal(listSeriesDays(parseRange('1999-01-01'), ['2026-01-30'], '2026-02-02'), ['2026-01-30'])
  assert.is(listSeriesDays(parseRange('2024-01-01', '2024-12-31'), [], '2026-02-02').length, 366)
})

test.run()
