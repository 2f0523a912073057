/** Finds what the form of a question demands of a query: groups, a place in an order, a size of groups, a comparison of two values. */
import { identifiesRows, isIdentifier } from '../cells/column-roles.ts'
import { expandHeader } from '../cells/header-words.ts'
import { findQuantifier, type Quantifier } from '../forms/quantifiers.ts'
import { covers, type Question, type Span, type Word } from '../parse-question.ts'
import type { DatePart, Direction, Grouping, Query, SizeComparison } from '../query.ts'
import { listNext } from '../states/link-times.ts'
import { START_STEMS } from '../states/state-words.ts'
import type { Column, TypedTable } from '../typed-table.ts'
import { AGGREGATE_WORDS, AVERAGES, GROUP_WORDS, isSuperlative, NUMBER_WORDS, TIMES, toWords } from '../vocabulary.ts'
import { findComparison, readOrdinal } from '../wording/comparisons.ts'
import { isRate } from '../wording/measured-units.ts'
import { type Contrast, findContrast, findShareOfTotal } from './contrast.ts'
import { isDateCondition, listMeantDates, type MeantDates } from './date-choice.ts'
import { hasHeaderStem, isInHeader, isOfState, type LinkedCondition, type Links, selectBestLink } from './links.ts'
import { findDatePart } from './question-form.ts'
import { isPersonHeader, listNouns } from './question-nouns.ts'

export interface Demands {
  dates: MeantDates
  /** The part of dates that "per month" asks for. */
  part?: DatePart
  /** What "per customer" and "by region and month" ask for: at most two. */
  groupings: Grouping[]
  /** Whether "per second" asks for groups that the table does not have. */
  hasUnknownGroups: boolean
  /** "The second highest" is 2. */
  position?: number
  size?: GroupSize
  contrast?: Contrast
  /** A column that is part of another one: "the share of the takings that was paid by card". */
  share?: { part: number; whole: number }
  /** "Who has worked here the longest?" asks for the first date of this column. */
  tenure?: { column: number; direction: Direction }
  /** "When is the next tour?" asks for the first date of this column from today on. */
  next?: number
  quantifier?: Quantifier
}

/** "Customers with at least two orders", "departments with an average salary above 50,000". */
export interface GroupSize extends Span {
  comparison: SizeComparison
  value: number
  isOfRows: boolean
  /** The columns that may name the groups. */
  by: number[]
}

const DATE_PARTS = toWords('year quarter month weekday day')
/** The average per entry is that of the rows. */
const KNOWN_PARTS: ReadonlySet<string> = new Set([...DATE_PARTS, 'entry', 'row', 'record', 'item'])
const ARTICLES = toWords('the each every a by per of')
const EXACTLY = toWords('only exactly just')
const MAX_ADJECTIVES = 3

export function findDemands(question: Question, table: TypedTable, links: Links): Demands {
  const { words } = question
  const part = findDatePart(question, (index) => isInHeader(links, index), true)
  const hasDates = table.columns.some(({ readings }) => readings.date)
  const dates = listMeantDates(words, table.columns, links.columns)
  const isColumn = links.columns.some(
    ({ start, match, column }) =>
      (match === 'exact' && words[start]?.text === part) ||
      // "Rent per month" where the column is "Monthly rent" or "Rent (EUR/month)".
      (match !== 'synonym' && part !== undefined && isPeriodical(part, expandHeader(table.columns[column]?.header ?? ''))),
  )
  const groupings = listGroupings(words, table, links, dates.columns).filter((grouping) => !isColumn || grouping.part !== part)
  const ordinal = words.findIndex((word, index) => (readOrdinal(word.text) ?? 0) > 1 && isSuperlative(words[index + 1] ?? word))
  const size = findGroupSize(question, table, links)
  const contrast = findContrast(question, links, dates.columns)
  const share = findShareOfTotal(question, table, links)
  const quantifier = findQuantifier(question, table, links)
  return {
    dates,
    ...(part && hasDates && !isColumn ? { part } : {}),
    groupings: groupings.length > 0 ? groupings : findRepeatedValues(words, links.conditions),
    hasUnknownGroups: hasUnknownGroups(words, table, links),
    ...(ordinal < 0 ? {} : { position: readOrdinal(words[ordinal]?.text ?? '') as number }),
    ...(size ? { size } : {}),
    ...(contrast ? { contrast } : {}),
    ...(share ? { share } : {}),
    ...(quantifier ? { quantifier } : {}),
    ...findTenure(question, table),
    ...findNext(question, links),
  }
}

const findNext = (question: Question, { conditions }: Links): Pick<Demands, 'next'> => {
  const spans = listNext(question)
  const found = conditions.find(
    ({ start, end, condition }) => condition.kind === 'all' && spans.some((span) => span.start === start && span.end === end),
  )
  return found ? { next: found.condition.column } : {}
}

const isPeriodical = (part: DatePart, header: string): boolean =>
  new RegExp(`\\b${part}(?:ly)?\\b`, 'i').test(header) || (part === 'year' && /\bannual\b/i.test(header))

/** Returns the groups of "per month", "for each customer" and "by region and quarter". */
function listGroupings(words: readonly Word[], table: TypedTable, links: Links, dates: readonly number[]): Grouping[] {
  const groupings: Grouping[] = []
  let end = 0
  for (const [index, { text }] of words.entries()) {
    const isNext = index === end && end > 0 && text === 'and'
    if (isRate(words, index, table)) continue
    if (index < end || !(isNext || (GROUP_WORDS.has(text) && !isInHeader(links, index) && !isOfState(links, index)))) continue
    let start = index + 1
    while (ARTICLES.has(words[start]?.text ?? '')) start++
    const found = findGroupingAt(start, words, table, links, dates, text === 'by' || isNext)
    // "The average per performance" is that of the rows.
    if (found && isOfRow(found.by, words[start], table) && words.some((word) => AVERAGES.has(word.text))) continue
    if (!found || groupings.some(({ by, part }) => by === found.by && part === found.part)) continue
    groupings.push({ by: found.by, ...(found.part ? { part: found.part } : {}) })
    end = found.end
  }
  return groupings.slice(0, 2)
}

const hasUnknownGroups = (words: readonly Word[], table: TypedTable, links: Links): boolean =>
  words.some(({ text }, index) => {
    const next = words.findIndex((_, position) => position > index && !ARTICLES.has(words[position]?.text ?? ''))
    const isKnown =
      links.columns.some((link) => covers(link, next)) ||
      words[next]?.isTitle ||
      KNOWN_PARTS.has(words[next]?.text ?? '') ||
      findListedValues(next, words, links.conditions) !== undefined
    return text === 'per' && !isInHeader(links, index) && !isRate(words, index, table) && !isKnown
  })

const isOfRow = (column: number, word: Word | undefined, { columns }: TypedTable): boolean =>
  word?.isTitle === true && (column === 0 || identifiesRows(columns[column]))

function findGroupingAt(
  start: number,
  words: readonly Word[],
  { columns }: TypedTable,
  { columns: linked, conditions }: Links,
  [date]: readonly number[],
  isUncertain: boolean,
): (Grouping & { end: number }) | undefined {
  const link = selectBestLink(linked.filter((each) => each.start === start))
  const text = words[start]?.text.replace(/s$/, '') ?? ''
  if (DATE_PARTS.has(text) && link?.match !== 'exact' && date !== undefined) return { by: date, part: text as DatePart, end: start + 1 }
  if (!link)
    return isUncertain ? undefined : (findListedValues(start, words, conditions) ?? findPeopleWithRole(start, words, columns, conditions))
  const { readings, header } = columns[link.column] ?? {}
  // "Top students by score" and "orders by customer Acme" do not ask for groups.
  const isValue = conditions.some((condition) => condition.start === link.end && condition.condition.column === link.column)
  const isMeasure = readings?.number !== undefined || isIdentifier(header ?? '')
  if (isUncertain && (link.match === 'synonym' || isMeasure || isValue)) return undefined
  return { by: link.column, end: link.end }
}

/** "Per perm, temp and contract" asks for the groups of the column with these values. */
function findListedValues(
  start: number,
  words: readonly Word[],
  conditions: readonly LinkedCondition[],
): (Grouping & { end: number }) | undefined {
  const values = conditions.filter(({ match, condition: { kind } }) => kind === 'equals' && (match === 'exact' || match === 'part'))
  const findEnd = (column: number, at: number): number => {
    const end = values.find((value) => value.start === at && value.condition.column === column)?.end
    return end === undefined ? at : Math.max(end, findEnd(column, ['and', 'or'].includes(words[end]?.text ?? '') ? end + 1 : end))
  }
  const lists = values
    .filter((value) => value.start === start)
    .map(({ end: first, condition: { column: by } }) => ({ by, first, end: findEnd(by, start) }))
    .filter(({ first, end }) => end > first + 1 || (end > first && words[first]?.text !== 'and'))
  const longest = Math.max(...lists.map(({ end }) => end))
  const found = lists.find(({ end }) => end === longest)
  return found && { by: found.by, end: found.end }
}

const BEFORE_VALUES = toWords('by at in on with via through for from how')
const AMONG_VALUES = new Set([...BEFORE_VALUES, ...'and the many were was are is of a'.split(' ')])

/** "By card, by app and at the desk", "how many by phone and how many online": the values are groups. */
function findRepeatedValues(words: readonly Word[], conditions: readonly LinkedCondition[]): Grouping[] {
  if (!words.some(({ text }) => text === 'many' || text === 'much')) return []
  const values = conditions
    .filter(({ match, condition }) => condition.kind === 'equals' && !condition.isNegated && match === 'exact')
    .sort((a, b) => a.start - b.start)
  const isNext = (first: LinkedCondition, second: LinkedCondition) => {
    const gap = words.slice(first.end, second.start).map(({ text }) => text)
    const isOther = first.condition.column === second.condition.column && first.end < second.start
    return isOther && gap.every((text) => AMONG_VALUES.has(text)) && gap.some((text) => BEFORE_VALUES.has(text))
  }
  const last = values.find((second) => {
    const first = values.find((each) => isNext(each, second))
    const hasAnd = words.slice(first?.end, second.start).some(({ text }) => text === 'and')
    return (
      first !== undefined && hasAnd && words.slice(Math.max(0, first.start - 2), first.start).some(({ text }) => BEFORE_VALUES.has(text))
    )
  })
  return last ? [{ by: last.condition.column }] : []
}

/** "Each receptionist" asks for people whose role is Receptionist. */
function findPeopleWithRole(
  start: number,
  words: readonly Word[],
  columns: readonly Column[],
  conditions: readonly LinkedCondition[],
): (Grouping & { end: number }) | undefined {
  const value = conditions.find((condition) => condition.start === start && condition.match === 'exact')
  const people = columns.flatMap(({ header, type }, column) => (type === 'text' && isPersonHeader(header) ? [column] : []))
  const [by, other] = people.filter((column) => column !== value?.condition.column)
  if (!value || by === undefined || other !== undefined || words[value.end]?.isTitle) return undefined
  return { by, end: value.end }
}

/** Finds "at least twice", "more than 3 orders", and "an average salary above 50,000" in a question for groups. */
function findGroupSize(question: Question, table: TypedTable, links: Links): GroupSize | undefined {
  const { words, numbers } = question
  const many = words.findIndex(({ text }) => text === 'many')
  const counted = links.columns.filter(({ start, match }) => many >= 0 && start === many + 1 && match !== 'synonym')
  const named = many >= 0 ? counted.map(({ column }) => column) : [...listNouns(words, table.columns, links)]
  const by = named.filter((column) => table.columns[column]?.type === 'text' && !isIdentifier(table.columns[column]?.header ?? ''))
  if (by.length === 0) return undefined
  const isExact = (index: number) => EXACTLY.has(words[index - 1]?.text ?? '')
  for (const [index, { text, number }] of words.entries()) {
    const isTimes = ['times', 'time'].includes(words[index + 1]?.text ?? '')
    const value = TIMES[text] ?? (isTimes ? (number ?? NUMBER_WORDS[text]) : undefined)
    if (value === undefined) continue
    const end = index + (TIMES[text] === undefined ? 2 : 1)
    const compared = findComparison(words, index, index + 1)
    const start = Math.min(compared?.start ?? index, isExact(index) ? index - 1 : index)
    return { start, end: Math.max(end, compared?.end ?? 0), comparison: toSize(compared?.comparison), value, isOfRows: true, by }
  }
  const isRowNoun = (index: number) => {
    const linked = links.columns.filter(({ start, column }) => start === index && !by.includes(column)).map(({ column }) => column)
    const numbersRows = (column: number) => column === 0 || isIdentifier(table.columns[column]?.header ?? '')
    if (linked.some((column) => table.columns[column]?.readings.number && !numbersRows(column))) return false
    return words[index]?.isTitle === true || linked.some(numbersRows)
  }
  for (const { start, end, value, comparison } of numbers) {
    if (comparison === 'between' || (comparison === 'equal' && !isExact(start))) continue
    const noun = words.findIndex((_, index) => index >= end && index <= end + MAX_ADJECTIVES && isRowNoun(index))
    const isDescribed = (index: number) => words[index]?.isStop || links.conditions.some((condition) => covers(condition, index))
    const isOfRows = noun >= 0 && words.slice(end, noun).every((_, offset) => isDescribed(end + offset))
    const isOfSum = words.some(({ text }, index) => AGGREGATE_WORDS.has(text) && !isInHeader(links, index))
    const from = isExact(start) ? start - 1 : start
    if (isOfRows || isOfSum) return { start: from, end: isOfRows ? noun + 1 : end, comparison: toSize(comparison), value, isOfRows, by }
  }
  return undefined
}

const TENURE = new RegExp(
  [
    String.raw`\b(longest|shortest)\b.*\b(?:serving|serve|employed|worked|with us|here|with the company|a member)\b`,
    String.raw`\b(?:been|worked|served|employed|stayed|member|had|held|rented|lived)\b.*\b(longest|shortest)\b`,
  ].join('|'),
  'i',
)

/** Who is there the longest came first. */
function findTenure({ text }: Question, { columns }: TypedTable): Pick<Demands, 'tenure'> {
  const match = TENURE.exec(text.replaceAll('-', ' '))
  const isOfPeople = /\b(?:here|us|member|employ|work|serv)/i.test(text)
  // Who has been with us the longest, only a first date says, and no number of hours.
  const isKnown = !/\b(?:with (?:us|the company)|a member|employed)\b/i.test(text)
  const start = columns.findIndex((each) => each.readings.date && hasHeaderStem(each, START_STEMS))
  const column = start >= 0 || isOfPeople ? start : (listMeantDates([], columns, []).columns[0] ?? -1)
  if (!match || (column < 0 && isKnown)) return {}
  return { tenure: { column, direction: (match[1] ?? match[2])?.toLowerCase() === 'longest' ? 'min' : 'max' } }
}

const toSize = (comparison: string | undefined): SizeComparison =>
  comparison === undefined || comparison === 'between' ? 'equal' : (comparison as SizeComparison)

/** Whether a query has the dates, groups, place, sizes and comparison that the form of the question demands. */
export function meetsDemands(
  { operation, conditions }: Query,
  { dates, part, groupings, hasUnknownGroups, position, size, contrast, share, next, tenure }: Demands,
): boolean {
  if (next !== undefined)
    return operation.kind === 'top' && operation.key === next && operation.reading === 'date' && operation.direction === 'min'
  if (share) return operation.kind === 'share' && operation.portion !== undefined
  const isGroup = operation.kind === 'group'
  if (hasUnknownGroups || (tenure && tenure.column < 0)) return false
  if (isGroup && operation.part) {
    // "Per month in 2025" is about one date.
    const isOther = conditions.some((condition) => isDateCondition(condition) && condition.column !== operation.by)
    if (isOther || !dates.columns.includes(operation.by)) return false
  }
  const hasAmount = ('key' in operation && operation.key !== undefined) || operation.kind === 'aggregate'
  const isDated = 'part' in operation || [...conditions, ...('rows' in operation ? operation.rows : [])].some(isDateCondition)
  if (hasAmount && isDated && !dates.areOfEvents) return false
  if (contrast) return operation.kind === 'contrast' ? contrast.result !== 'difference' : operation.kind.startsWith('difference')
  if (size) return operation.kind === 'having'
  if (position !== undefined && !(operation.kind === 'top' || (isGroup && operation.direction))) return false
  const [first, second] = groupings
  if (second) return isGroup && operation.and !== undefined
  if (first && !(isGroup && operation.by === first.by && operation.part === first.part))
    return first.part !== undefined && isGroup && operation.part === part
  return !part || (isGroup && operation.part === part)
}
