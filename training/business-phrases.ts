/** Writes further questions over business tables: shares, groups, months, money and empty cells. */
import type { Condition, Operation } from '../daemon/tables/query.ts'
import type { BusinessQuestion, Domain } from './business-domains.ts'

const ROUNDS = 4
const EXTREMES = [
  ['max', 'highest'],
  ['max', 'largest'],
  ['min', 'lowest'],
  ['min', 'smallest'],
] as const

export function* writeFurtherQuestions(
  domain: Domain,
  pick: <T>(items: readonly T[]) => T,
  random: (limit: number) => number,
): Generator<BusinessQuestion> {
  const { row, rows: plural, date, flag, categories, numbers } = domain
  const dateColumn = 1 + categories.length + numbers.length
  const name = (header: string) => header.replace(/ \(.*\)/, '').toLowerCase()
  const create = (texts: readonly string[], operation: Operation, ...conditions: Condition[]): BusinessQuestion => ({
    text: pick(texts),
    query: { conditions, operation },
  })
  for (let round = 0; round < ROUNDS; round++) {
    const [index, numberIndex] = [random(categories.length), random(numbers.length)]
    const category = categories[index] as Domain['categories'][number]
    const number = numbers[numberIndex] as Domain['numbers'][number]
    const [column, key] = [1 + index, 1 + categories.length + numberIndex]
    const [value, group, measure] = [pick(category.values), name(category.header), name(number.header)]
    const isValue: Condition = { kind: 'equals', column, reading: 'text', values: [value] }
    const isFlagged: Condition = { kind: 'equals', column: dateColumn + 1, reading: 'number', values: [1] }
    const [direction, extreme] = pick(EXTREMES)

    yield create(
      [
        `What percentage of ${plural} are ${value}?`,
        `percentage of ${plural} with ${group} ${value}`,
        `What share of ${plural} is ${value}?`,
      ],
      { kind: 'share', among: [] },
      isValue,
    )
    yield create(
      [`What percentage of ${plural} are ${flag.toLowerCase()}?`, `What % of ${plural} were ${flag.toLowerCase()}?`],
      { kind: 'share', among: [] },
      isFlagged,
    )
    yield create([`What percentage of ${value} ${plural} are ${flag.toLowerCase()}?`], { kind: 'share', among: [isValue] }, isFlagged)
    yield create(
      [`What share of the total ${measure} comes from ${value}?`, `What percentage of ${measure} is from ${value}?`],
      { kind: 'share', key, among: [] },
      isValue,
    )

    yield create([`Which ${group} has the ${extreme} average ${measure}?`, `${group} with the ${extreme} average ${measure}`], {
      kind: 'group',
      by: column,
      aggregate: 'average',
      key,
      direction,
    })
    yield create([`Which ${group} has the ${extreme} total ${measure}?`, `${group} with the ${extreme} total ${measure}`], {
      kind: 'group',
      by: column,
      aggregate: 'sum',
      key,
      direction,
    })
    yield create([`Top 2 ${category.plural} by ${measure}`, `Which 2 ${category.plural} have the highest total ${measure}?`], {
      kind: 'group',
      by: column,
      aggregate: 'sum',
      key,
      direction: 'max',
      limit: 2,
    })
    yield create([`Top 2 ${category.plural} by number of ${plural}`, `Which 2 ${category.plural} have the most ${plural}?`], {
      kind: 'group',
      by: column,
      aggregate: 'count',
      direction: 'max',
      limit: 2,
    })

    const part = pick(['month', 'quarter', 'year'] as const)
    yield create([`Which ${part} had the most ${plural}?`, `In which ${part} were there the most ${plural}?`], {
      kind: 'group',
      by: dateColumn,
      part,
      aggregate: 'count',
      direction: 'max',
    })
    yield create(
      [
        `Which ${part} had the ${extreme} ${measure}?`,
        `In which ${part} was the total ${measure} ${extreme}?`,
        `What ${part} had the ${extreme} ${measure}?`,
      ],
      { kind: 'group', by: dateColumn, part, aggregate: 'sum', key, direction },
    )
    yield create([`${part}ly ${measure}`, `${measure} per ${part}`, `What is the total ${measure} by ${part}?`], {
      kind: 'group',
      by: dateColumn,
      part,
      aggregate: 'sum',
      key,
    })
    yield create([`How many ${plural} per ${part}?`, `number of ${plural} by ${part}`], {
      kind: 'group',
      by: dateColumn,
      part,
      aggregate: 'count',
    })
    const [quarter, year] = [1 + random(4), 2022 + random(3)]
    yield create(
      [`How many ${plural} in Q${quarter} ${year}?`, `number of ${plural} in Q${quarter} of ${year}`],
      { kind: 'count' },
      {
        kind: 'dates',
        column: dateColumn,
        from: `${year}-${String(quarter * 3 - 2).padStart(2, '0')}`,
        to: quarter === 4 ? String(year + 1) : `${year}-${String(quarter * 3 + 1).padStart(2, '0')}`,
      },
    )

    const low = Math.round(number.from + ((number.to - number.from) * (10 + random(30))) / 100)
    const high = Math.round(number.from + ((number.to - number.from) * (50 + random(40))) / 100)
    yield create(
      [`How many ${plural} have a ${measure} between ${low} and ${high}?`, `number of ${plural} with ${measure} from ${low} to ${high}`],
      { kind: 'count' },
      { kind: 'between', column: key, from: low, to: high },
    )
    yield create(
      [
        `Which ${plural} have no ${date.toLowerCase()} date?`,
        `Which ${plural} are missing ${date.toLowerCase()}?`,
        `${plural} without ${date}`,
      ],
      { kind: 'list', column: 0 },
      { kind: 'empty', column: dateColumn },
    )
    yield create(
      [
        `Which ${row} has the earliest ${date.toLowerCase()}?`,
        `What is the oldest ${row}?`,
        `Which ${row} was ${date.toLowerCase()} first?`,
      ],
      { kind: 'top', key: dateColumn, reading: 'date', direction: 'min', limit: 1, column: 0 },
    )
    yield create(
      [`Which ${row} has the latest ${date.toLowerCase()}?`, `What is the newest ${row}?`, `Which ${row} was ${date.toLowerCase()} last?`],
      { kind: 'top', key: dateColumn, reading: 'date', direction: 'max', limit: 1, column: 0 },
    )
    yield create(
      [
        `What is the ${measure} of ${value}?`,
        `What ${measure} does ${value} have?`,
        `How much ${measure} did ${value} have?`,
        `${value} ${measure}`,
      ],
      { kind: 'aggregate', aggregate: 'sum', column: key },
      isValue,
    )
    if (!number.isMoney) continue
    yield create(
      [
        `How much did ${value} spend?`,
        `How much was spent on ${value}?`,
        `What did we spend on ${value}?`,
        `How much do we pay for ${value}?`,
        `What do ${value} ${plural} cost in total?`,
        `How much money is it for ${value}?`,
      ],
      { kind: 'aggregate', aggregate: 'sum', column: key },
      isValue,
    )
    yield create([`Which ${group} spent the most?`, `Which ${group} costs the most?`, `Which ${group} spent the most in total?`], {
      kind: 'group',
      by: column,
      aggregate: 'sum',
      key,
      direction: 'max',
    })
    yield create(
      [`What was the ${extreme} ${value} ${row}?`, `How much was the ${extreme} ${row} of ${value}?`],
      { kind: 'aggregate', aggregate: direction, column: key },
      isValue,
    )
    yield create([`What is the most expensive ${row}?`, `Which ${row} costs the most?`, `Which ${row} is the most expensive?`], {
      kind: 'top',
      key,
      reading: 'number',
      direction: 'max',
      limit: 1,
      column: 0,
    })
    yield create([`average ${row} per ${group}`, `What is the average ${row} by ${group}?`], {
      kind: 'group',
      by: column,
      aggregate: 'average',
      key,
    })
  }
}
