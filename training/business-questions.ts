/** Writes questions over business tables with their queries, from templates and made-up rows. */
import type { Condition, Operation } from '../daemon/tables/query.ts'
import { type BusinessQuestion, type BusinessTable, DOMAINS, type Domain, MONTHS } from './business-domains.ts'
import { writeFurtherQuestions } from './business-phrases.ts'

export function createBusinessTables(seed: number): BusinessTable[] {
  let state = seed
  const random = (limit: number) => {
    state = (state * 1103515245 + 12345) % 2147483648
    return Math.floor((state / 2147483648) * limit)
  }
  const pick = <T>(items: readonly T[]): T => items[random(items.length)] as T
  return DOMAINS.map((domain) => {
    const header = [
      domain.key.header,
      ...domain.categories.map(({ header }) => header),
      ...domain.numbers.map(({ header }) => header),
      domain.date,
      domain.flag,
    ]
    const formatNumber = ({ from, to, scale, unit = '' }: Domain['numbers'][number]) => {
      const text = (from + random((to - from) * 100) / 100).toFixed(scale)
      return unit.length === 1 && unit !== '%'
        ? unit + Number(text).toLocaleString('en-US', { minimumFractionDigits: scale })
        : `${text}${unit === '%' ? '%' : unit === '' ? '' : ` ${unit}`}`
    }
    const rows = Array.from({ length: 30 }, (_, index) => [
      `${pick(domain.key.prefix)}${domain.key.prefix.length === 1 ? 1000 + index : ` ${index + 1}`}`,
      ...domain.categories.map(({ values }) => pick(values)),
      ...domain.numbers.map(formatNumber),
      random(12) === 0 ? '' : `${2022 + random(3)}-${String(1 + random(12)).padStart(2, '0')}-${String(1 + random(28)).padStart(2, '0')}`,
      pick(['yes', 'no']),
    ])
    const questions = [...writeQuestions(domain, rows, pick, random), ...writeFurtherQuestions(domain, pick, random)]
    return { title: domain.title, header, rows, questions }
  })
}

function* writeQuestions(
  domain: Domain,
  rows: string[][],
  pick: <T>(items: readonly T[]) => T,
  random: (limit: number) => number,
): Generator<BusinessQuestion> {
  const { row, rows: plural, date, flag } = domain
  const dateColumn = 1 + domain.categories.length + domain.numbers.length
  const flagColumn = dateColumn + 1
  const name = (header: string) => header.replace(/ \(.*\)/, '').toLowerCase()
  const choose = () => {
    const index = random(domain.categories.length)
    const category = domain.categories[index] as Domain['categories'][number]
    return { category, column: 1 + index, value: pick(category.values) }
  }
  const chooseNumber = () => {
    const index = random(domain.numbers.length)
    const number = domain.numbers[index] as Domain['numbers'][number]
    return {
      number,
      column: 1 + domain.categories.length + index,
      limit: Math.round(number.from + ((number.to - number.from) * (20 + random(60))) / 100),
    }
  }
  const equals = (column: number, value: string): Condition => ({ kind: 'equals', column, reading: 'text', values: [value] })
  const create = (text: string, operation: Operation, ...conditions: Condition[]): BusinessQuestion => ({
    text,
    query: { conditions, operation },
  })
  for (let round = 0; round < 4; round++) {
    const { category, column, value } = choose()
    const other = choose()
    const { number, column: key, limit } = chooseNumber()
    const [month, year] = [random(12) + 1, 2022 + random(3)]
    const inMonth: Condition = {
      kind: 'dates',
      column: dateColumn,
      from: `${year}-${String(month).padStart(2, '0')}`,
      to: month === 12 ? String(year + 1) : `${year}-${String(month + 1).padStart(2, '0')}`,
    }
    const measure = name(number.header)
    const group = name(category.header)
    const more: Condition = { kind: 'numbers', column: key, comparison: 'more', value: limit }
    yield create(pick([`How many ${plural} are there?`, `number of ${plural}`, `How many ${plural} do we have in total?`]), {
      kind: 'count',
    })
    yield create(
      pick([
        `How many ${plural} are ${value}?`,
        `How many ${value} ${plural} are there?`,
        `How many ${plural} have the ${group} ${value}?`,
        `Count the ${plural} with ${group} ${value}`,
        `How many ${plural} does ${value} have?`,
        `How many ${plural} were ${value}?`,
        `How many ${plural} in ${value}?`,
      ]),
      { kind: 'count' },
      equals(column, value),
    )
    if (other.column !== column)
      yield create(
        pick([
          `How many ${value} ${plural} are ${other.value}?`,
          `How many ${plural} with ${group} ${value} are ${other.value}?`,
          `How many ${plural} from ${value} were ${other.value}?`,
        ]),
        { kind: 'count' },
        equals(column, value),
        equals(other.column, other.value),
      )
    yield create(
      pick([`How many ${plural} are not ${value}?`, `How many ${plural} excluding ${value}?`]),
      { kind: 'count' },
      { kind: 'equals', column, reading: 'text', values: [value], isNegated: true },
    )
    yield create(
      pick([
        `How many ${plural} have a ${measure} over ${limit.toLocaleString('en-US')}?`,
        `How many ${plural} have a ${measure} of more than ${limit}?`,
        `number of ${plural} with ${measure} above ${limit}`,
      ]),
      { kind: 'count' },
      more,
    )
    yield create(
      pick([
        `How many ${plural} are from ${MONTHS[month - 1]} ${year}?`,
        `How many ${plural} in ${MONTHS[month - 1]} ${year}?`,
        `How many ${plural} were ${date.toLowerCase()} in ${MONTHS[month - 1]} ${year}?`,
      ]),
      { kind: 'count' },
      inMonth,
    )
    yield create(`How many ${plural} after ${year - 1}?`, { kind: 'count' }, { kind: 'dates', column: dateColumn, from: String(year) })
    const isFlag = random(2) as 0 | 1
    yield create(
      isFlag
        ? `How many ${plural} are ${flag.toLowerCase()}?`
        : pick([`How many ${plural} are not ${flag.toLowerCase()}?`, `How many un${flag.toLowerCase()} ${plural} are there?`]),
      { kind: 'count' },
      { kind: 'equals', column: flagColumn, reading: 'number', values: [isFlag] },
    )
    yield create(
      pick([
        `How many different ${category.plural} are there?`,
        `How many ${category.plural} are there?`,
        `number of distinct ${category.plural}`,
      ]),
      { kind: 'count_values', column },
    )
    yield create(
      pick([
        `What is the total ${measure}?`,
        `total ${measure}`,
        `What is the sum of all ${measure}?`,
        `What is the total ${measure} of all ${plural}?`,
      ]),
      { kind: 'aggregate', aggregate: 'sum', column: key },
    )
    yield create(
      pick([
        `What is the total ${measure} for ${value}?`,
        `total ${measure} of ${value} ${plural}`,
        `What is the total ${measure} of ${plural} in ${value}?`,
        `Sum of ${measure} where ${group} is ${value}`,
      ]),
      { kind: 'aggregate', aggregate: 'sum', column: key },
      equals(column, value),
    )
    yield create(
      pick([
        `What was the total ${measure} in ${MONTHS[month - 1]} ${year}?`,
        `total ${measure} of ${plural} in ${MONTHS[month - 1]} ${year}`,
      ]),
      { kind: 'aggregate', aggregate: 'sum', column: key },
      inMonth,
    )
    yield create(pick([`What is the average ${measure}?`, `average ${measure} of the ${plural}`]), {
      kind: 'aggregate',
      aggregate: 'average',
      column: key,
    })
    yield create(
      pick([
        `What is the average ${measure} of ${value} ${plural}?`,
        `average ${measure} for ${value}`,
        `What is the average ${measure} in ${value}?`,
      ]),
      { kind: 'aggregate', aggregate: 'average', column: key },
      equals(column, value),
    )
    const [direction, word] = pick([
      ['max', 'highest'],
      ['max', 'largest'],
      ['max', 'maximum'],
      ['min', 'lowest'],
      ['min', 'smallest'],
      ['min', 'minimum'],
    ] as const)
    yield create(`What is the ${word} ${measure}?`, { kind: 'aggregate', aggregate: direction, column: key })
    yield create(
      `What is the ${word} ${measure} for ${value}?`,
      { kind: 'aggregate', aggregate: direction, column: key },
      equals(column, value),
    )
    yield create(`Which ${row} has the ${word} ${measure}?`, { kind: 'top', key, reading: 'number', direction, limit: 1, column: 0 })
    yield create(
      `Which ${value} ${row} has the ${word} ${measure}?`,
      { kind: 'top', key, reading: 'number', direction, limit: 1, column: 0 },
      equals(column, value),
    )
    yield create(
      pick([
        `Top 3 ${plural} by ${measure}`,
        `Which 3 ${plural} have the highest ${measure}?`,
        `What are the top 3 ${plural} by ${measure}?`,
      ]),
      { kind: 'top', key, reading: 'number', direction: 'max', limit: 3, column: 0 },
    )
    yield create(pick([`Which ${group} has the most ${plural}?`, `What ${group} has the most ${plural}?`]), {
      kind: 'group',
      by: column,
      aggregate: 'count',
      direction: 'max',
    })
    yield create(`Which ${group} has the highest total ${measure}?`, { kind: 'group', by: column, aggregate: 'sum', key, direction: 'max' })
    const [aggregate, verb] = pick([
      ['average', 'average'],
      ['sum', 'total'],
      ['max', 'highest'],
      ['min', 'lowest'],
    ] as const)
    yield create(
      pick([`${verb} ${measure} per ${group}`, `What is the ${verb} ${measure} by ${group}?`, `${verb} ${measure} for each ${group}`]),
      { kind: 'group', by: column, aggregate, key },
    )
    yield create(
      pick([`How many ${plural} per ${group}?`, `number of ${plural} by ${group}`, `How many ${plural} are there for each ${group}?`]),
      { kind: 'group', by: column, aggregate: 'count' },
    )
    yield create(pick([`total ${measure} per month`, `total ${measure} by month`]), {
      kind: 'group',
      by: dateColumn,
      part: 'month',
      aggregate: 'sum',
      key,
    })
    yield create(
      pick([
        `List all ${plural} over ${limit} ${measure}`,
        `Which ${plural} have a ${measure} of more than ${limit}?`,
        `list ${plural} with a ${measure} above ${limit}`,
      ]),
      { kind: 'list', column: 0 },
      more,
    )
    yield create(
      pick([
        `List all ${value} ${plural}`,
        `Which ${plural} are ${value}?`,
        `Show all ${plural} with ${group} ${value}`,
        `Which ${plural} are in ${value}?`,
      ]),
      { kind: 'list', column: 0 },
      equals(column, value),
    )
    yield create(
      pick([
        `list all ${plural} over ${limit} in ${MONTHS[month - 1]} ${year}`,
        `Which ${plural} in ${MONTHS[month - 1]} ${year} have a ${measure} over ${limit}?`,
      ]),
      { kind: 'list', column: 0 },
      more,
      inMonth,
    )
    const entry = pick(rows)
    yield create(
      pick([`What is the ${measure} of ${entry[0]}?`, `${measure} of ${entry[0]}`]),
      { kind: 'list', column: key },
      equals(0, entry[0] as string),
    )
    yield create(
      pick([`What is the ${group} of ${entry[0]}?`, `Which ${group} does ${entry[0]} have?`]),
      { kind: 'list', column },
      equals(0, entry[0] as string),
    )
    yield create(
      `How many ${plural} have a ${measure} of at least ${limit}?`,
      { kind: 'count' },
      { kind: 'numbers', column: key, comparison: 'at_least', value: limit },
    )
  }
}
