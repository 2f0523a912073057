/** The second reading of questions for a number of things in a table of orders: its rows, or the sum of their quantities. */
import { isAdditive, isMoney, isQuantity, mayCount } from '../cells/column-roles.ts'
import type { Question } from '../parse-question.ts'
import type { Condition, Query } from '../query.ts'
import type { TypedTable } from '../typed-table.ts'
import { DISTINCT_WORDS } from '../vocabulary.ts'
import type { Links } from './links.ts'

const MAX_GAP = 3

/** Returns the query that adds up quantities instead of counting rows; undefined if the question counts rows. */
export function readAsQuantity(
  question: Question,
  table: TypedTable,
  links: Links,
  query: Query,
  isRepeated: (column: number) => boolean,
): Query | undefined {
  const { operation, conditions } = query
  const quantity = table.columns.findIndex(isQuantity)
  // Small numbers of things are repeated, the numbers of players are not.
  const key = quantity >= 0 ? quantity : table.columns.findIndex((column, index) => index > 0 && mayCount(column) && isRepeated(index))
  if (key < 0) return undefined
  // "How many keys" where each row is a kind of key.
  const many = question.words.findIndex(({ text }) => text === 'many')
  const kinds = links.columns.find(({ start, match }) => many >= 0 && start === many + 1 && match !== 'synonym')?.column
  const counted =
    operation.kind === 'count_values' ? operation.column : operation.kind === 'count' && conditions.length === 0 ? kinds : undefined
  const isOfKinds = counted !== undefined && table.columns[counted]?.type === 'text' && !isRepeated(counted)
  if (isOfKinds && !table.columns.some(isMoney) && !question.words.some(({ text }) => DISTINCT_WORDS.has(text)))
    return { conditions, operation: { kind: 'aggregate', aggregate: 'sum', column: key } }
  if (!countsThings(question, table, links, conditions)) return undefined
  if (operation.kind === 'count') return { conditions, operation: { kind: 'aggregate', aggregate: 'sum', column: key } }
  if (operation.kind === 'group' && operation.aggregate === 'count')
    return { conditions, operation: { ...operation, aggregate: 'sum', key } }
  return undefined
}

/** "How many monitors" and "the most monitors" count things, "how many shipped orders" counts rows. */
function countsThings({ words }: Question, { columns }: TypedTable, links: Links, conditions: readonly Condition[]): boolean {
  const start = words.findIndex(({ text }) => ['many', 'most', 'fewest', 'least'].includes(text)) + 1
  if (start === 0) return false
  const things = links.conditions.filter(
    ({ condition, start: from }) => conditions.includes(condition) && from >= start && from < start + MAX_GAP,
  )
  return things.some(({ condition, start: from, end, match }) => {
    const isValue = (match === 'exact' || match === 'part') && columns[condition.column]?.type === 'text'
    // "Mailbox keys" are those of the column Key, "Ludo's orders" are rows.
    const isFollowed = links.columns.some((link) => link.start === end && link.column !== condition.column) || words[end]?.isTitle === true
    return isValue && words.slice(start, from).every(({ isStop, isTitle }) => isStop && !isTitle) && !isFollowed
  })
}

/** "What did gas cost us?" asks for the sum of several amounts, not for a list of them. Undefined: it asks for something else. */
export function readAsTotal({ words }: Question, table: TypedTable, { operation, conditions }: Query, rowCount: number): Query | undefined {
  if (operation.kind !== 'list' || operation.column === undefined || rowCount < 2 || words[0]?.text !== 'what') return undefined
  const { [operation.column]: column } = table.columns
  if (!column || !isMoney(column) || !isAdditive(column, table)) return undefined
  return { conditions, operation: { kind: 'aggregate', aggregate: 'sum', column: operation.column } }
}
