/** Generates the queries that a question may mean, with the features of each. */
import { type Candidate, countBits, type FilterSet, getMask, getMasks } from './candidate.ts'
import { isIdentifier } from './cells/column-roles.ts'
import { createFeatureSource, type FeatureSource, type Roles } from './features.ts'
import { generateDemanded } from './generate-demanded.ts'
import { isInHeader, type LinkedCondition, type Links } from './linking/links.ts'
import type { Demands } from './linking/question-demands.ts'
import { findDatePart } from './linking/question-form.ts'
import { listLimits, type Question } from './parse-question.ts'
import type { Aggregate, Condition, DatePart, Direction, Grouping, Operation } from './query.ts'
import type { Column, Reading, TypedTable } from './typed-table.ts'
import { AGE_DIRECTIONS, DIRECTIONS, GROUP_WORDS, TRIGGERS } from './vocabulary.ts'
import { readOrdinal } from './wording/comparisons.ts'

const MAX_FILTER_SETS = 36
const MAX_SET_SIZE = 3

/** `demands` adds the operations that a question demands, where the question may be about anything. */
export function* generateQueries(question: Question, table: TypedTable, links: Links, demands?: Demands): Generator<Candidate> {
  const source = createFeatureSource(question, table, links)
  const columns = table.columns.map((_, index) => index)
  const comparable = columns.flatMap((index) => listComparable(table.columns[index] as Column).map((reading) => ({ index, reading })))
  const numeric = comparable.filter(({ reading }) => reading === 'number').map(({ index }) => index)
  // The youngest has the largest date of birth.
  const isAskedFor = (direction: Direction) =>
    question.words.some(({ text }) => DIRECTIONS[direction].has(text) || (demands !== undefined && AGE_DIRECTIONS[text] !== undefined))
  const isNext = demands?.next !== undefined
  const directions = demands?.tenure
    ? [demands.tenure.direction]
    : (['max', 'min'] as const).filter((direction) => (isNext ? direction === 'min' : isAskedFor(direction)))
  const limits = getLimits(question)
  const groupings = listGroupings(question, table, links, demands)
  const place = demands?.position === undefined ? {} : { position: demands.position }
  const ordinal = question.words.map(({ text }) => readOrdinal(text)).find((position) => position !== undefined && position > 1)
  const sets = listFilterSets(question, links, comparable)

  for (const set of sets) {
    // The words of a comparison, such as "after 2020", ask for nothing else.
    const compared = getMasks(set.conditions.filter(({ match }) => COMPARING.has(match)))
    const has = (trigger: keyof typeof TRIGGERS) => hasTrigger(question, trigger, compared)
    const named = getMasks(set.conditions)
    const conditions = set.conditions.map(({ condition }) => condition)
    const create = (operation: Operation, sign: string, roles: Roles = {}): Candidate =>
      source.createCandidate({ conditions, operation }, sign, set, roles)
    const isPair = set.conditions.some(({ match }) => match === 'pair')

    if (conditions.length > 0) {
      for (const column of columns) yield create({ kind: 'list', column }, 'list', { target: column })
      yield create({ kind: 'exists' }, 'exists')
    } else for (const column of columns) yield create({ kind: 'list', column }, 'list_all', { target: column })
    yield create({ kind: 'list' }, 'rows')
    if (has('count')) {
      yield create({ kind: 'count' }, 'count')
      for (const column of columns) yield create({ kind: 'count_values', column }, 'count_values', { target: column })
    }
    const aggregates = [...(['sum', 'average', 'median'] as const).filter(has), ...(has('extreme') ? directions : [])]
    for (const aggregate of aggregates)
      for (const column of numeric) yield create({ kind: 'aggregate', aggregate, column }, getSign(aggregate), { target: column })
    if (has('extreme') || isNext)
      for (const direction of directions)
        for (const { index: key, reading } of comparable.filter(({ index }) => !isOppositeAge(question, table.columns[index], direction)))
          for (const column of columns)
            for (const limit of limits) {
              const sign = `${isPair ? 'compare' : limit > 1 ? 'tops' : 'top'}_${direction}`
              yield create({ kind: 'top', key, reading, direction, limit, ...place, column }, sign, { target: column, key, direction })
            }
    if (has('edge'))
      for (const from of ['first', 'last'] as const)
        for (const column of columns) {
          for (const limit of limits) yield create({ kind: 'edge', from, position: 1, limit, column }, from, { target: column })
          if (ordinal !== undefined)
            yield create({ kind: 'edge', from, position: ordinal, limit: 1, column }, `nth_${from}`, { target: column })
        }
    // "after" in a value, such as the title "Life After Love", does not ask for the next row.
    if (hasTrigger(question, 'neighbor', named) && conditions.length > 0)
      for (const offset of [1, -1] as const)
        for (const column of columns)
          yield create({ kind: 'neighbor', offset, column }, offset > 0 ? 'next' : 'previous', { target: column })
    if (has('group'))
      for (const { by, part } of groupings)
        for (const direction of directions)
          for (const limit of limits) {
            const role = part ? {} : { target: by }
            const sign = `${limit > 1 ? 'top_groups' : 'group'}${part ? '_by_date' : ''}`
            yield create({ kind: 'group', by, ...part, aggregate: 'count', direction, limit, ...place }, `${sign}_${direction}`, role)
            for (const key of numeric.filter((index) => index !== by))
              for (const aggregate of ['sum', ...(['average', 'median'] as const).filter(has)] as const)
                yield create(
                  { kind: 'group', by, ...part, aggregate, key, direction, limit, ...place },
                  `${sign}_${getSign(aggregate)}_${direction}`,
                  {
                    ...role,
                    key,
                    direction,
                  },
                )
          }
    if (has('share') && conditions.length > 0)
      for (const key of [undefined, ...numeric]) {
        // "What percentage of German orders were cancelled?" The condition that is named last is the part.
        const ordered = [...set.conditions].sort((a, b) => a.start - b.start).map(({ condition }) => condition)
        // Several words may state the part: "left" and "door" in "were left at the door".
        const part = JSON.stringify(ordered.at(-1))
        const among = ordered.filter((condition) => JSON.stringify(condition) !== part)
        const operation: Operation = { kind: 'share', among, ...(key === undefined ? {} : { key }) }
        const sign = key === undefined ? 'share' : 'share_sum'
        yield source.createCandidate({ conditions: ordered.slice(-1), operation }, sign, set, key === undefined ? {} : { target: key })
      }
    if (question.words.some(({ text }) => GROUP_WORDS.has(text)) || (demands?.groupings.length ?? 0) > 0)
      for (const { by, part, and } of groupings) {
        const role = part ? {} : { target: by }
        const sign = part ? 'groups_by_date' : 'groups'
        yield create({ kind: 'group', by, ...part, ...and, aggregate: 'count' }, sign, role)
        for (const key of numeric)
          for (const aggregate of listGroupAggregates(aggregates))
            if (key !== by)
              yield create({ kind: 'group', by, ...part, ...and, aggregate, key }, `${sign}_${getSign(aggregate)}`, { ...role, key })
      }
    if (demands) yield* generateDemanded(source, set, demands, numeric, aggregates, directions, question, table, links)
    if (has('same') && conditions.length > 0)
      for (const shared of columns)
        for (const column of columns)
          if (shared !== column) yield create({ kind: 'same', shared, column }, 'same', { target: column, key: shared })
  }
  if (!demands && hasTrigger(question, 'difference', 0)) yield* generateDifferences(source, table, links)
}

/** The oldest has the largest age, but the smallest date. */
const isOppositeAge = ({ words }: Question, column: Column | undefined, direction: Direction): boolean =>
  /\bage\b/i.test(column?.header ?? '') &&
  words.some(({ text }) => AGE_DIRECTIONS[text] !== undefined && AGE_DIRECTIONS[text] !== direction)

/** Questions for medians have the form of those for averages, whose weights are learned. */
const getSign = (aggregate: Exclude<Aggregate, 'count'>): string => (aggregate === 'median' ? 'average' : aggregate)

const COMPARING: ReadonlySet<LinkedCondition['match']> = new Set(['comparison', 'date', 'row'])

const hasTrigger = ({ words }: Question, trigger: keyof typeof TRIGGERS, ignored: number): boolean =>
  words.some(
    ({ text }, index) => !(ignored & getMask({ start: index, end: index + 1 })) && (TRIGGERS[trigger] as readonly string[]).includes(text),
  )

interface ColumnGrouping {
  by: number
  part?: { part: DatePart }
  and?: { and: Grouping }
}

/** Columns to group by, and the month, quarter or year of dates: "revenue per month", "which month had the most orders". */
function listGroupings(question: Question, { columns }: TypedTable, links: Links, demands?: Demands): ColumnGrouping[] {
  const [first, second] = demands?.groupings ?? []
  if (first && second) return [{ by: first.by, ...(first.part ? { part: { part: first.part } } : {}), and: { and: second } }]
  const part = demands ? demands.part : findDatePart(question, (index) => isInHeader(links, index))
  const dates = part ? columns.flatMap(({ readings }, by) => (readings.date ? [{ by, part: { part } }] : [])) : []
  return [...dates, ...columns.map((_, by) => ({ by }))]
}

const listGroupAggregates = (aggregates: readonly Exclude<Aggregate, 'count'>[]) =>
  aggregates.length > 0 ? aggregates : (['sum'] as const)

/** The difference of two rows named by values of one column: "How much more does A cost than B?" */
function* generateDifferences(source: FeatureSource, table: TypedTable, links: Links): Generator<Candidate> {
  for (const pair of listPairs(links.conditions)) {
    const set: FilterSet = { conditions: [], mask: getMasks(pair) }
    const rows: [Condition, Condition] = [pair[0].condition, pair[1].condition]
    yield source.createCandidate({ conditions: [], operation: { kind: 'difference_of_counts', rows } }, 'difference_of_counts', set, {})
    for (const [column, { readings }] of table.columns.entries())
      if ((readings.number || readings.date) && column !== rows[0].column)
        yield source.createCandidate({ conditions: [], operation: { kind: 'difference', column, rows } }, 'difference', set, {
          target: column,
        })
  }
}

const listComparable = ({ readings, type, header, isReference }: Column): Reading[] =>
  type === 'boolean' || isIdentifier(header) || isReference
    ? []
    : [...(readings.number ? (['number'] as const) : []), ...(readings.date ? (['date'] as const) : [])]

const getLimits = (question: Question): number[] => {
  const limits = listLimits(question).map(({ value }) => value)
  return limits.length > 0 ? limits : [1]
}

function listPairs(conditions: readonly LinkedCondition[]): [LinkedCondition, LinkedCondition][] {
  const values = conditions.filter(
    ({ match, condition }) => condition.kind === 'equals' && (match === 'exact' || match === 'part' || match === 'number'),
  )
  return values.flatMap((first, index) =>
    values.slice(index + 1).flatMap((second): [LinkedCondition, LinkedCondition][] => {
      const [a, b] = [first.condition, second.condition]
      const isPair = a.column === b.column && a.kind === 'equals' && b.kind === 'equals' && a.reading === b.reading
      return isPair && !(getMask(first) & getMask(second)) ? [[first, second]] : []
    }),
  )
}

type EqualsCondition = Extract<Condition, { kind: 'equals' }>

/** "Berlin and Paris": the values of one column that a question lists. */
function listValueLists(question: Question, conditions: readonly LinkedCondition[]): LinkedCondition[] {
  // Values of the same rank are in any order.
  const inOrder = question.today === undefined ? conditions : conditions.toSorted((a, b) => a.start - b.start)
  const isValue = (index: number, column: number) =>
    conditions.some(({ start, end, condition }) => start <= index && index < end && condition.column === column)
  // "Hugo Rossi" is one name, and "support Express middleware" is no list.
  const isList = ([a, b]: readonly [LinkedCondition, LinkedCondition]) =>
    question.today === undefined ||
    (a.end < b.start &&
      question.words.slice(a.end, b.start).every(({ isStop }, offset) => isStop || isValue(a.end + offset, a.condition.column)))
  return listPairs(inOrder)
    .filter(isList)
    .map(([first, second]): LinkedCondition => {
      const [a, b] = [first.condition, second.condition] as [EqualsCondition, EqualsCondition]
      // "Perm, temp and contract": those between are meant, too.
      const others = conditions.flatMap(({ start, end, condition: other, match }) =>
        start >= first.end &&
        end <= second.start &&
        other.kind === 'equals' &&
        other.column === a.column &&
        (match === 'exact' || match === first.match)
          ? other.values
          : [],
      )
      const values = [...a.values, ...new Set(others), ...b.values]
      return { start: first.start, end: second.end, match: 'pair', condition: { ...a, values } }
    })
}

/** Returns sets of conditions that different words state, those that cover most words first. */
function listFilterSets(question: Question, links: Links, comparable: readonly { index: number; reading: Reading }[]): FilterSet[] {
  const lists = listValueLists(question, links.conditions)
  const pool = [...links.conditions, ...lists.slice(0, 6), ...listRowComparisons(question, links.conditions, comparable).slice(0, 8)]
  const masked = pool.map((linked) => ({ linked, mask: getMask(linked) }))
  let sets: FilterSet[] = [{ conditions: [], mask: 0 }]
  const all: FilterSet[] = [...sets]
  for (let size = 1; size <= MAX_SET_SIZE; size++) {
    sets = sets.flatMap(({ conditions, mask }) => {
      const from = conditions.length === 0 ? 0 : pool.indexOf(conditions.at(-1) as LinkedCondition) + 1
      return masked
        .slice(from)
        .flatMap(({ linked, mask: own }) => (own & mask ? [] : [{ conditions: [...conditions, linked], mask: mask | own }]))
    })
    sets = sets.sort((a, b) => countBits(b.mask) - countBits(a.mask)).slice(0, MAX_FILTER_SETS)
    all.push(...sets.slice(0, size === 1 ? MAX_FILTER_SETS : MAX_FILTER_SETS / 2))
  }
  return all
}

/** "More points than Acme": a column compared with that of the row a value names. */
function listRowComparisons(
  question: Question,
  conditions: readonly LinkedCondition[],
  comparable: readonly { index: number; reading: Reading }[],
): LinkedCondition[] {
  const than = question.words.findIndex(({ text }) => text === 'than')
  const words = question.words.slice(0, Math.max(0, than)).map(({ text }) => text)
  const comparison = words.some((word) => DIRECTIONS.max.has(word))
    ? 'more'
    : words.some((word) => DIRECTIONS.min.has(word))
      ? 'less'
      : undefined
  if (than < 0 || !comparison) return []
  return conditions
    .filter(({ start, match }) => start > than && start <= than + 2 && (match === 'exact' || match === 'part'))
    .flatMap(({ start, end, condition }) =>
      comparable.map(
        ({ index, reading }): LinkedCondition => ({
          start: Math.min(start, than),
          end,
          match: 'row',
          condition: { kind: 'than_row', column: index, reading, comparison, row: condition },
        }),
      ),
    )
}
