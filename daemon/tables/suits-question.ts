/** Excludes queries whose result cannot answer a question in its form: a list does not answer "how many". */
import { isAdditive, isAverage, isIdentifier, isMoney, isOrder, isOrigin, isPercentage, isYear } from './cells/column-roles.ts'
import { comparesRows, createRoleCheck } from './forms/asked-role.ts'
import { createVerdictExplanation } from './forms/explain-verdict.ts'
import { divideConditions } from './forms/quantifiers.ts'
import { isDateCondition, isOtherBoundary } from './linking/date-choice.ts'
import { isInHeader, isStatedBy, type LinkedCondition, type Links } from './linking/links.ts'
import { asksForCount, asksForDescribedRow, asksForEdge, asksForExtreme, findMost } from './linking/measured-nouns.ts'
import { countsThings } from './linking/product-column.ts'
import { type Demands, meetsDemands } from './linking/question-demands.ts'
import { asksForLargestRow, hasPeople } from './linking/question-nouns.ts'
import type { Question } from './parse-question.ts'
import {
  type Aggregate,
  type Condition,
  contradicts,
  type Direction,
  isSingleValue,
  listAllConditions,
  type Operation,
  type Query,
} from './query.ts'
import { findQuestionTraits } from './question-traits.ts'
import { type Column, isDataFile, type TypedTable } from './typed-table.ts'
import { AGGREGATE_WORDS, AMOUNT_STEMS, DIRECTIONS } from './vocabulary.ts'
import { createExplanation } from './wording/explained-words.ts'

const ROW_OPERATIONS: ReadonlySet<Operation['kind']> = new Set(['list', 'count', 'count_values'])
const COMPARISONS_OF_VALUES: ReadonlySet<Condition['kind']> = new Set(['than_column', 'than_row', 'numbers', 'between', 'dates'])
const NEIGHBOR = /\b(?:next|previous|following|follows|preceding|precedes|after|before)\b/i

/** Returns a function that says whether a query answers the question in its form. */
export function createSuitability(
  question: Question,
  table: TypedTable,
  links: Links,
  demands: Demands,
  isRepeated: (column: number) => boolean,
): (query: Query) => boolean {
  const { words } = question
  const columnAt = (index: number) => table.columns[index] as Column
  const traits = findQuestionTraits(question, table, links, demands)
  const { form, texts, age, lesser, hasMoney, asksForMoney, namesCurrency, asksForDistinct, isMinOfUncertainWord } = traits
  const { linked, named, nouns, measured, exactNumbers, exactHeaders, isRowNumber, isOnlyExpense } = traits
  const canMeasure = (column: number): boolean => (measured.size === 0 ? traits.canMeasure(columnAt(column)) : measured.has(column))
  /** A column that the question does not name is added up only if it is an amount. */
  const canAggregate = (column: number, aggregate: string): boolean => {
    if (isRowNumber(column) || (aggregate === 'sum' && isPercentage(columnAt(column)))) return false
    if ((namesCurrency || (traits.paysMoney && aggregate === 'sum')) && !isMoney(columnAt(column))) return false
    if (isYear(columnAt(column)) && aggregate !== 'max' && aggregate !== 'min') return false
    if (traits.asksForValue) return isMoney(columnAt(column))
    if (named.has(column)) return true
    if (aggregate === 'sum' && !isAdditive(columnAt(column), table)) return false
    if (isOnlyExpense(column) || lesser.has(column)) return false
    if (hasMoney && (asksForMoney || (form === 'amount' && !linked.has(column)))) return isMoney(columnAt(column))
    return true
  }
  const canShow = (column: number): boolean => {
    const { header, readings, type } = columnAt(column)
    const isName = isIdentifier(header) || isRowNumber(column)
    const isAmount = readings.number !== undefined && type !== 'boolean'
    if (form === 'count' || form === 'amount')
      return isAmount && !isName && (linked.has(column) || (form === 'amount' && (!asksForMoney || isMoney(columnAt(column)))))
    if (form === 'boolean') return false
    if (namesCurrency) return isMoney(columnAt(column)) && !lesser.has(column)
    // What something cost is no unit price.
    if (traits.asksForCost && isMoney(columnAt(column)) && !isAdditive(columnAt(column), table)) return false
    if (readings.date !== undefined && isOtherBoundary(words, columnAt(column))) return false
    if (texts.has('when') && readings.date === undefined && !isYear(columnAt(column))) return false
    return nouns.size === 0 || nouns.has(column)
  }
  const explains = createExplanation(question, table, links, demands)
  const suitsRole = createRoleCheck(question, table, links)
  const explainsVerdict = createVerdictExplanation(question, table, links, demands)
  return (query: Query): boolean => {
    const { operation, conditions } = query
    if (traits.asksForShare && operation.kind !== 'share') return false
    if (traits.isElsewhere || !explains(query) || !suitsRole(query)) return false
    const hasExtreme = 'aggregate' in operation && (operation.aggregate === 'max' || operation.aggregate === 'min')
    const ignoresExtreme = ROW_OPERATIONS.has(operation.kind) || (operation.kind === 'aggregate' && !hasExtreme)
    if (ignoresExtreme && asksForExtreme(words, exactHeaders, links, conditions)) return false
    if (conditions.some(({ kind, column }) => (kind === 'numbers' || kind === 'between') && lesser.has(column))) return false
    if ((operation.kind === 'exists' || operation.kind === 'quantified') && !explainsVerdict(query)) return false
    if (operation.kind === 'exists' && demands.contrast) return false
    if (operation.kind === 'quantified') return !contradicts(listAllConditions(query))
    // "The five smallest" are more than one.
    if (traits.hasLimit && ((operation.kind === 'aggregate' && hasExtreme) || ('limit' in operation && operation.limit === 1))) return false
    if (demands.quantifier && demands.quantifier.kind !== 'whole') return false
    if (operation.kind === 'exists')
      return (
        !isQuantified(conditions) &&
        form === 'boolean' &&
        (words[0]?.text !== 'can' || conditions.some(({ column }) => columnAt(column).type === 'boolean'))
      )
    if (traits.isRelated && !conditions.some(({ kind }) => kind === 'than_column')) return false
    if (traits.comparesValues && !conditions.some(({ kind }) => COMPARISONS_OF_VALUES.has(kind))) return false
    if ((traits.asksForSum || traits.asksForAverage) && ROW_OPERATIONS.has(operation.kind)) return false
    if (
      operation.kind === 'list' &&
      words.some(({ text }, at) => AGGREGATE_WORDS.has(text) && !isInHeader(links, at) && !isStatedBy(links, at, conditions))
    )
      return false
    if (traits.asksForAverage && operation.kind === 'aggregate' && operation.aggregate === 'sum' && !isAverage(columnAt(operation.column)))
      return false
    if (texts.has('median') && !('aggregate' in operation && operation.aggregate === 'median')) return false
    if (!meetsDemands(query, demands) || contradicts(conditions)) return false
    if (traits.asksForFrequency && form === 'selection' && operation.kind !== 'group') return false
    if ('direction' in operation && operation.direction && !isAskedFor(operation.direction, conditions)) return false
    if (operation.kind === 'aggregate' && hasExtreme && !isAskedFor(operation.aggregate as Direction, conditions)) return false
    switch (operation.kind) {
      case 'list':
        // What was paid in May is no amount of rows with another date.
        if (form === 'amount' && !linked.has(operation.column ?? -1) && conditions.some(isDateCondition) && !demands.dates.areOfEvents)
          return false
        if (texts.has('when') && (conditions.length === 0 || traits.isUnclearDate(operation.column))) return false
        // "Who trained Bo?" asks for a person, not for the rows of Bo.
        if (operation.column === undefined && words[0]?.text === 'who' && hasPeople(table.columns)) return false
        // "Who owns the club?" does not ask for all classes of members.
        if (words[0]?.text === 'who' && conditions.length === 0 && !hasPeople(table.columns.filter((_, at) => at === operation.column)))
          return false
        if (operation.column === undefined && conditions.length === 0 && !traits.asksForRows && !texts.has('all')) return false
        if (traits.listedColumn !== undefined && operation.column !== traits.listedColumn && traits.listedColumn > 0) return false
        if (operation.column === undefined || traits.asksForRows)
          return operation.column === undefined && form === 'selection' && !traits.paysMoney
        return canShow(operation.column) && !conditions.some((condition) => isSingleValue(condition, operation.column))
      case 'count':
        if (traits.asksForValue || traits.asksForTotal || traits.doers.length > 0) return false
        return (form === 'count' && !traits.addsUp) || (form === 'selection' && !traits.asksForThings && words.some(asksForCount))
      case 'count_values':
        return (
          form !== 'amount' &&
          form !== 'boolean' &&
          !(traits.asksForThings && form === 'selection' && !asksForDistinct) &&
          linked.has(operation.column) &&
          !(columnAt(operation.column).readings.date !== undefined && !asksForDistinct && words[traits.many - 2]?.text !== 'on') &&
          (asksForDistinct || traits.many < 0 || traits.isCounted(operation.column) || traits.doers.includes(operation.column)) &&
          !traits.asksForValue &&
          !traits.asksForTotal &&
          !(traits.doers.length > 0 && !traits.doers.includes(operation.column)) &&
          (asksForDistinct ? !traits.isNumberBesideText(operation.column) : !columnAt(operation.column).readings.number)
        )
      case 'aggregate':
        return (
          form !== 'boolean' &&
          !traits.countsRows &&
          !(form === 'count' && isMoney(columnAt(operation.column)) && !traits.isCounted(operation.column)) &&
          canAggregate(operation.column, operation.aggregate) &&
          canTakeExtreme(operation) &&
          !isOtherNamed(operation.column, conditions)
        )
      case 'group':
        return canGroup(operation) && !conditions.some((each) => isSingleValue(each, operation.by))
      case 'share':
        return form !== 'boolean' && (operation.portion !== undefined || canShare(operation.key, [...conditions, ...operation.among]))
      case 'top':
        return canShow(operation.column) && canOrder(operation) && !conditions.some((each) => isSingleValue(each, operation.column))
      case 'having':
        return operation.isCounted === (form === 'count') && (operation.key === undefined || canGroup({ ...operation, kind: 'group' }))
      case 'contrast':
        if (operation.isVerdict && (comparesRows(words) || operation.key === undefined))
          return comparesRows(words) && operation.key === undefined
        if (operation.isVerdict && asksForMoney && hasMoney && !isMoney(columnAt(operation.key ?? 0))) return false
        return canGroup({ ...operation, kind: 'group', by: operation.rows[0].column, aggregate: getAggregate(operation) })
      case 'difference':
        return canGroup({ kind: 'group', by: operation.rows[0].column, key: operation.column, aggregate: getAggregate(operation) })
      case 'difference_of_counts':
        return form === 'count' || texts.has('number')
      case 'edge':
        if (traits.asksForSize || (traits.asksForTime && traits.hasDates) || age || traits.orderedDates.length > 0) return false
        return canShow(operation.column) && asksForEdge(words, exactHeaders, links, conditions)
      case 'neighbor':
        // The rows of a data file have no order: "the next order" is the first one from today on.
        return !isDataFile(table) && NEIGHBOR.test(question.text) && canShow(operation.column)
      case 'same':
        return canShow(operation.column)
      default:
        return form !== 'boolean'
    }
  }

  /** "Has Acme paid?" is not answered by one of several rows. */
  function isQuantified(conditions: readonly Condition[]): boolean {
    const { quantifier } = demands
    if (quantifier?.kind !== 'whole') return quantifier !== undefined
    const used = links.conditions.filter(({ condition }) => conditions.includes(condition))
    return divideConditions(quantifier, used, words, table, links) !== undefined
  }

  /** "What percentage of expenses was spent on travel?" asks for amounts, unless the word for money is one of a condition. */
  function canShare(key: number | undefined, conditions: readonly Condition[]): boolean {
    const isMoneyAsked =
      namesCurrency || words.some(({ stem, isTitle }, index) => AMOUNT_STEMS.has(stem) && !isTitle && !isStatedBy(links, index, conditions))
    if (!traits.namesShare || key === undefined) return traits.namesShare && !(isMoneyAsked && hasMoney)
    return !isRowNumber(key) && (named.has(key) || (isMoneyAsked && isMoney(columnAt(key)) && isAdditive(columnAt(key), table)))
  }

  /** "First" of "the first half of 2025" and "last" of the column "Sold last week" ask for no order. */
  function isAskedFor(direction: Direction, conditions: readonly Condition[]): boolean {
    if (demands.tenure || age || demands.next !== undefined) return true
    return words.some(
      ({ text }, index) => DIRECTIONS[direction].has(text) && !exactHeaders.has(index) && !isStatedBy(links, index, conditions),
    )
  }

  /** "The median quantity" is that of the column Quantity, unless the column is part of a condition. */
  function isOtherNamed(column: number, conditions: readonly Condition[]): boolean {
    const isUsed = (other: number) => conditions.some((condition) => condition.column === other)
    return !linked.has(column) && exactNumbers.some((other) => !isUsed(other))
  }

  /** "What is the heaviest item?" asks for the item. */
  function canTakeExtreme({ aggregate, column }: Extract<Operation, { kind: 'aggregate' }>): boolean {
    if (aggregate !== 'max' && aggregate !== 'min') return true
    if (words[0]?.text === 'what' && asksForDescribedRow(words, links)) return false
    return (nouns.size === 0 || nouns.has(column)) && canMeasure(column) && !isOnlyExpense(column)
  }

  /** The sum of one row is its value: prices are compared, although they are not added up. */
  function getAggregate({ rows, aggregate = 'sum' }: { rows: readonly Condition[]; aggregate?: Aggregate }): Aggregate {
    return aggregate === 'sum' && rows.every((row) => isSingleValue(row, row.column) && !isRepeated(row.column)) ? 'max' : aggregate
  }

  function canOrder({ key, reading, direction, limit, column }: Extract<Operation, { kind: 'top' }>): boolean {
    const first = demands.tenure?.column ?? demands.next
    if (first !== undefined) return key === first && reading === 'date'
    // "Which product do we have the fewest of?" compares quantities where each product has one row.
    const isHeld = words.at(-1)?.text === 'of' && countsThings(columnAt(key)) && !isRepeated(column)
    if (isRowNumber(key) || (traits.isMostOfRows && !isHeld) || traits.asksForLargestSum) return false
    // "Which way of booking is used most?" names nothing that is measured.
    if (findMost(words) >= 0 && !linked.has(key) && !isHeld && !(asksForMoney && isMoney(columnAt(key)))) return false
    if ((traits.scores.length > 0 && !traits.scores.includes(key)) || (traits.sized.size > 0 && !traits.sized.has(key))) return false
    // "Which boat burned the most fuel?", "the top five by hours" and "the largest quantity overall" ask for sums of several rows.
    const isAmount = column !== key && reading === 'number' && isAdditive(columnAt(key), table)
    if (isAmount && (traits.isMostOfMeasure || limit > 1 || traits.hasSumWord) && isRepeated(column)) return false
    // "The largest invoice" has the largest amount, not the largest tax.
    if ((measured.size > 0 ? !measured.has(key) : lesser.has(key)) || isOnlyExpense(key)) return false
    // "The most expensive repair" asks for the repair or its price, not for another amount.
    if (isMoney(columnAt(key)) && isMoney(columnAt(column)) && column !== key && !named.has(column)) return false
    if (isMinOfUncertainWord && direction === 'min' && !isOrder(columnAt(key))) return false
    if (age)
      return traits.ageColumn < 0
        ? isOrigin(table, key, reading, age === 'min') && direction !== age
        : key === traits.ageColumn && direction === age
    if (traits.isUnclearOrder(key)) return false
    if (measured.size === 0 && !traits.canMeasure(columnAt(key))) return false
    if (traits.orderedDates.length > 0) return reading === 'date' && traits.orderedDates.includes(key)
    if (traits.asksForTime && traits.hasDates) return reading === 'date'
    return !(traits.asksForSize && reading === 'date')
  }

  function canGroup({ by, part, key, aggregate, direction }: Extract<Operation, { kind: 'group' }>): boolean {
    // "Who spent the most?" names no column.
    const isNamed = linked.has(by) || (nouns.has(by) && !texts.has('whose')) || demands.groupings.some((grouping) => grouping.by === by)
    if (!demands.contrast && (form === 'boolean' || !(part || isNamed))) return false
    const { header, readings } = columnAt(by)
    const isGroup = part || demands.contrast || traits.exact.has(by)
    if ((readings.number || readings.date || isIdentifier(header)) && !isGroup) return false
    if ((isMinOfUncertainWord && direction === 'min') || (texts.has('who') && !traits.asksForGroups && !nouns.has(by))) return false
    if (direction === undefined && !traits.asksForGroups && demands.groupings.length === 0 && !demands.contrast && !demands.size)
      return false
    // "The most expensive item we stock" asks for a price.
    if (traits.particular.length > 0 && (key === undefined || !canMeasure(key))) return false
    if (direction && asksForLargestRow(words)) return false
    // "The most expensive laptop" is one laptop.
    if (direction && aggregate === 'sum' && traits.particular.some(({ text }) => text === 'expensive' || text === 'cheapest')) return false
    // "Which room earns the most?" asks for rooms.
    if (direction && !part && !demands.contrast && texts.has('which') && nouns.size > 0 && !nouns.has(by)) return false
    if (key === undefined && traits.countedNames.some((column) => column !== by && isRepeated(column))) return false
    if (key === undefined)
      return (
        !namesCurrency &&
        !(asksForMoney && hasMoney && !direction && form === 'selection') &&
        !isMinOfUncertainWord &&
        !traits.asksForLargestSum &&
        form !== 'amount' &&
        !traits.addsUp &&
        !(traits.asksForAmount && form !== 'count') &&
        (!direction || isRepeated(by) || part !== undefined)
      )
    if (traits.asksForFrequency || (form === 'count' && isMoney(columnAt(key)) && !traits.isCounted(key) && !traits.hasAggregateWord))
      return false
    const isDebt = ({ condition, isState }: LinkedCondition) => isState && condition.kind === 'numbers' && condition.column !== key
    // "Energy cost" is the column Cost, not one that only means the same as another word, and debts are compared with debts.
    if ((exactNumbers.length > 0 || links.conditions.some(isDebt)) && !named.has(key)) return false
    // "Which product has the highest unit price?" does not ask for the sum of prices.
    if (aggregate === 'sum' && !traits.hasAggregateWord && !isAdditive(columnAt(key), table)) return false
    const isAmount = isMinOfUncertainWord && exactNumbers.length === 0 && isMoney(columnAt(key)) && isAdditive(columnAt(key), table)
    const isAsked = linked.has(key) || traits.hasAggregateWord || asksForMoney || traits.asksForLargestSum || form === 'amount' || isAmount
    return isAsked && canAggregate(key, aggregate)
  }
}
