/** Generates the queries that only the form of a question demands. */
import { type Candidate, type FilterSet, getMask, getMasks } from './candidate.ts'
import type { FeatureSource, Roles } from './features.ts'
import { divideConditions, getTest } from './forms/quantifiers.ts'
import type { Links } from './linking/links.ts'
import type { Demands } from './linking/question-demands.ts'
import type { Question } from './parse-question.ts'
import type { Aggregate, Condition, Direction, Operation } from './query.ts'
import type { TypedTable } from './typed-table.ts'

/** Sizes of groups, and comparisons of two values. Their features are those of similar operations, which have weights. */
export function* generateDemanded(
  source: FeatureSource,
  set: FilterSet,
  { size, contrast, share, quantifier }: Demands,
  numeric: readonly number[],
  aggregates: readonly Exclude<Aggregate, 'count'>[],
  directions: readonly Direction[],
  { words }: Question,
  table: TypedTable,
  links: Links,
): Generator<Candidate> {
  const conditions = set.conditions.map(({ condition }) => condition)
  const average = aggregates.includes('average') ? (['average'] as const) : []
  const sums = [...average, ...(average.length === 0 ? (['sum'] as const) : [])]
  const divided = quantifier && divideConditions(quantifier, set.conditions, words, table, links)
  if (quantifier && divided) {
    const { conditions: met, ...rows } = divided
    const operation: Operation = { kind: 'quantified', quantifier: getTest(quantifier), ...rows }
    const masked = { ...set, mask: set.mask | (quantifier.size ? getMask(quantifier.size) : 0) }
    yield source.createCandidate({ conditions: met, operation }, 'exists', masked, rows.by === undefined ? {} : { target: rows.by })
  }
  if (share)
    yield source.createCandidate(
      { conditions: [], operation: { kind: 'share', key: share.whole, portion: share.part, among: conditions } },
      'share_sum',
      set,
      { target: share.part, key: share.whole },
    )
  if (size && !(set.mask & getMask(size))) {
    const { comparison, value, isOfRows } = size
    const masked = { ...set, mask: set.mask | getMask(size) }
    for (const by of size.by)
      for (const isCounted of [true, false]) {
        const having = { kind: 'having' as const, by, comparison, value, isCounted }
        if (isOfRows)
          yield source.createCandidate({ conditions, operation: { ...having, aggregate: 'count' } }, 'group_max', masked, { target: by })
        else
          for (const key of numeric)
            for (const aggregate of sums)
              yield source.createCandidate({ conditions, operation: { ...having, aggregate, key } }, `group_${aggregate}_max`, masked, {
                target: by,
                key,
              })
      }
  }
  for (const [first, second] of contrast?.pairs ?? []) {
    const mask = getMasks([first, second])
    const rows: [Condition, Condition] = [first.condition, second.condition]
    if (set.mask & mask || conditions.some(({ column }) => column === rows[0].column)) continue
    const create = (operation: Operation, sign: string, roles: Roles) =>
      source.createCandidate({ conditions, operation }, sign, { ...set, mask: set.mask | mask }, roles)
    if (contrast?.result === 'difference') {
      yield create({ kind: 'difference_of_counts', rows }, 'difference_of_counts', {})
      for (const column of numeric)
        yield create({ kind: 'difference', column, rows, ...(average.length > 0 ? { aggregate: 'average' } : {}) }, 'difference', {
          target: column,
        })
      continue
    }
    const verdict = contrast?.result === 'verdict' ? { isVerdict: true as const } : {}
    for (const order of contrast?.result === 'larger' || contrast?.result === 'verdict'
      ? directions.map((direction) => ({ direction, ...verdict }))
      : [{}]) {
      yield create({ kind: 'contrast', rows, aggregate: 'count', ...order }, 'groups', {})
      for (const key of numeric)
        for (const aggregate of sums) yield create({ kind: 'contrast', rows, aggregate, key, ...order }, `groups_${aggregate}`, { key })
    }
  }
}
