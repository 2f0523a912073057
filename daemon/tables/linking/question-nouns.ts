/** Finds what a question asks for: the rows, or the columns that its nouns name. */
import { findNameColumn, findNamingColumn, identifiesRows, isIdentifier, isMoney, isPayment } from '../cells/column-roles.ts'
import { expandHeader } from '../cells/header-words.ts'
import { covers, splitWords, type Word } from '../parse-question.ts'
import type { Column, TypedTable } from '../typed-table.ts'
import {
  AVERAGES,
  COUNTING_SUPERLATIVES,
  EXTREME_WORDS,
  GROUP_WORDS,
  isOperationWord,
  isSuperlative,
  MONEY_STEMS,
  NUMBER_WORDS,
  SIZE_WORDS,
  STOP_WORDS,
  toStems,
  toWords,
} from '../vocabulary.ts'
import { type ColumnLink, hasHeaderStem, type LinkedCondition, type Links, RANKS } from './links.ts'
import {
  ASSIGNED_STEMS,
  areSameRows,
  BUYING_STEMS,
  CUSTOMER_STEMS,
  MAKER_STEMS,
  PERSON_NOUNS,
  PERSON_STEMS,
  PRODUCT_STEMS,
  ROLE_VERBS,
  SERVED_STEMS,
  STAFF_STEMS,
  THING_STEMS,
  WORK_STEMS,
} from './role-words.ts'

/** "The most items" asks for the number of rows: "items" names the rows, or a column that is not measured. */
export function asksForMostRows(
  words: readonly Word[],
  links: Links,
  hasMoney: boolean,
  isMeasured: (link: ColumnLink) => boolean,
): boolean {
  const most = words.findIndex(({ text }) => COUNTING_SUPERLATIVES.has(text))
  const next = words[most + 1]
  if (most < 0 || !next) return false
  // "Which make do we have the most of?"
  if (next.text === 'of' && most + 2 >= words.length) return true
  const named = links.columns.filter(({ start, match }) => start === most + 1 && match !== 'synonym')
  return named.length > 0 ? !named.some(isMeasured) : next.isTitle === true && !(hasMoney && MONEY_STEMS.has(next.stem))
}

/** What a question asks for is in no column. */
const UNKNOWN = -1
/** "Assigned to", "sold_by" */
const DOER = /\w{3,}[ _](?:by|to)$/i
/** Headers of tables with the people who work here. */
const STAFF_HEADER = /\b(?:salary|wage|role|position|team|department|hired|shifts?|overtime|hourly|job title)\b/i
const OWN_DOER = /^(?:sold|taken|made|handled|assigned|done|served|managed|entered|recorded|created|closed|written)[ _](?:by|to)$/i

/** Whether a column has people or companies. */
export const isPersonHeader = (header: string): boolean => PERSON_STEMS.has(splitWords(expandHeader(header)).at(-1)?.stem ?? '')

export const isDoer = ({ header, type }: Column): boolean => type === 'text' && DOER.test(header)

export const hasPeople = (columns: readonly Column[]): boolean => columns.some(({ header }) => isPersonHeader(header))

/** Returns the columns that "who" may ask for; otherwise the first column of text, which names the rows of most tables. */
function listPeople(columns: readonly Column[]): number[] {
  const people = columns.flatMap(({ header, type }, column) => (type === 'text' && isPersonHeader(header) ? [column] : []))
  const first = columns.findIndex(({ type, header }) => type === 'text' && !isIdentifier(header))
  return people.length > 0 ? people : [findNameColumn(columns) ?? Math.max(0, first)]
}

/** "Who owes us money?" asks for customers, "who closed the most tickets?" for staff, and "who sold it?" for the column "Sold by". */
function selectPeople(words: readonly Word[], columns: readonly Column[]): readonly number[] {
  const people = listPeople(columns)
  const all = [...columns.keys()].filter((column) => people.includes(column) || DOER.test(columns[column]?.header ?? ''))
  const select = (stems: ReadonlySet<string>) => all.filter((column) => hasHeaderStem(columns[column], stems))
  const has = (stems: ReadonlySet<string>) => words.some(({ stem, isTitle }) => stems.has(stem) && !isTitle)
  const isDoer = (column: number) => DOER.test(columns[column]?.header ?? '')
  const named = [
    ...select(new Set(words.filter(({ isTitle }) => !isTitle).map(({ stem }) => stem))),
    ...select(new Set(words.map(({ stem }) => stem))).filter(isDoer),
  ]
  const isOf = (column: number, stems: ReadonlySet<string>) => select(stems).includes(column)
  // "Who of us" are the people who work here.
  if (words.some(({ text }, index) => text === 'us' && words[index - 1]?.text === 'of')) {
    const isOfStaff = columns.some(({ header }) => STAFF_HEADER.test(header.replaceAll('_', ' ')))
    const isPerson = (column: number) =>
      OWN_DOER.test(columns[column]?.header ?? '') ||
      (isPersonHeader(columns[column]?.header ?? '') && (isOfStaff || findNameColumn(columns) !== column))
    const own = [...named, ...select(ASSIGNED_STEMS), ...select(STAFF_STEMS), ...all].filter(
      (column) => isPerson(column) && ![CUSTOMER_STEMS, MAKER_STEMS, SERVED_STEMS].some((stems) => isOf(column, stems)),
    )
    return [own[0] ?? UNKNOWN]
  }
  const choices = has(BUYING_STEMS) ? [CUSTOMER_STEMS] : has(WORK_STEMS) ? [ASSIGNED_STEMS, STAFF_STEMS] : []
  const found = [named, ...choices.map(select)].find((columnsOfRole) => columnsOfRole.length > 0) ?? people
  // The artist of a work did not buy it.
  return has(BUYING_STEMS) && found.every((column) => isOf(column, MAKER_STEMS)) ? [UNKNOWN] : found
}

/** Words for things that have a name beside their number, and for rows. */
const ARTEFACTS = toStems('work piece thing')
const ROW_THINGS = new Set([...ARTEFACTS, ...toStems('case entry record order purchase booking')])

/** Returns the column that names the rows: of parts with numbers, their description; otherwise the first one. */
function findRowName(columns: readonly Column[], noun: Word | undefined): number {
  const [first] = columns
  const isThing = areSameRows('product', noun?.stem ?? '') || ARTEFACTS.has(noun?.stem ?? '')
  const isNumbered = identifiesRows(first) && isThing
  const described = columns.findIndex((column) => column.type === 'text' && hasHeaderStem(column, THING_STEMS))
  return findNameColumn(columns) ?? (isNumbered && described > 0 ? described : 0)
}

export const FINITE = toWords('is are was were do does did has have had')
const ADVERBS = toWords('still already ever never now currently usually also always yet')

/** Returns the position of the last noun in "which supplier invoices are", "which car make do"; otherwise -1. */
export function findHead(words: readonly Word[], start: number): number {
  const end = words.findIndex(({ text }, index) => index > start && FINITE.has(text))
  const last = words.findLastIndex(({ text }, index) => index < end && !ADVERBS.has(text))
  const between = words.slice(start + 1, last + 1)
  return end > 0 && last > start + 1 && between.every(({ isStop, isTitle }) => !isStop || isTitle) ? last : -1
}

/** The columns that the first word after "which" or "what" names, or "who" itself. */
export function listNouns(words: readonly Word[], columns: readonly Column[], { columns: links, conditions }: Links): Set<number> {
  // "What was the biggest donation and who gave it?" The amount is in the row, which is shown.
  const who = words.findIndex(({ text }, index) => text === 'who' && words[index - 1]?.text === 'and')
  const start = who >= 0 ? who : words.findIndex(({ text }) => ['which', 'what', 'who', 'whose'].includes(text))
  if (start < 0) return new Set()
  const isLinked = (index: number) => links.some((link) => covers(link, index))
  let index = start
  if (words[start]?.text === 'who' || words[start]?.text === 'whose') {
    // "Who is the head of Legal?" asks for the column Head.
    const isWho = words[start]?.text === 'who'
    const isName = (column: Column | undefined) => column?.type === 'text' && !identifiesRows(column)
    const isAsked = ({ column, start: at, match }: ColumnLink) =>
      at === start || (isWho && match === 'exact' && isName(columns[column]) && !words[at]?.isTitle)
    // "Who saw the most patients?" does not ask for patients.
    const most = words.findIndex(({ text }) => COUNTING_SUPERLATIVES.has(text))
    const isObject = (column: number) => links.some((link) => link.column === column && most >= 0 && link.start === most + 1)
    const named = links.filter((link) => isAsked(link) && !isObject(link.column)).map(({ column }) => column)
    const people = selectPeople(words, columns).filter((column) => !isObject(column))
    return new Set([...named, ...(links.some((link) => link.start === start) ? [] : people)])
  }
  /** "The cheapest online course" does not ask for the column Online. */
  const isAdjective = () =>
    links.some((link) => link.start === index && columns[link.column]?.type === 'boolean') &&
    !links.some((link) => link.start === index && link.match === 'exact' && columns[link.column]?.type !== 'boolean')
  // "Which three customers", "the top three customers".
  const isNumber = ({ number, text }: Word) => number !== undefined || NUMBER_WORDS[text] !== undefined
  const isSkipped = (word: Word) =>
    isSuperlative(word) || isAdjective() || ((isNumber(word) || STOP_WORDS.has(word.text) || isOperationWord(word)) && !isLinked(index))
  // "The most expensive work" asks for a row, although "work" says nothing else.
  const isThing = () => index > start && EXTREME_WORDS.has(words[index - 1]?.text ?? '') && ROW_THINGS.has(words[index]?.stem ?? '')
  const isRow = () => (index > start && words[index]?.isTitle === true) || (isThing() && !isLinked(index))
  while (index < words.length && isSkipped(words[index] as Word) && !isRow()) index++
  if (isThing() && !isLinked(index)) return new Set([findRowName(columns, words[index])])
  const head = findHead(words, start)
  if (head > index && !conditions.some((condition) => covers(condition, head))) {
    index = head
    if (!words[head]?.isTitle && !isLinked(head)) return new Set([isPlural(words[head]) ? findRowName(columns, words[head]) : UNKNOWN])
  }
  // "The most expensive hard cheese" asks for the cheese, "which open bugs" for bugs.
  const value = conditions.find(({ start: at, match }) => at === index && match === 'exact')
  const isLast = (word: Word | undefined) => isSuperlative(word as Word) || isPlural(words[value?.end ?? 0])
  if (value && (words[value.end]?.isTitle || (isLast(words[index - 1]) && isLinked(value.end)))) index = value.end
  // "What is ordered" asks for the rows, not for the column "Ordered by".
  if (value && words[start]?.text === 'what' && /(?:ed|en)$/.test(words[index]?.text ?? ''))
    return new Set([findRowName(columns, undefined)])
  // "Supply orders" are the rows of supply-orders.csv, not suppliers.
  while (words[index]?.isTitle && words[index + 1]?.isTitle) index++
  // "Supplier invoices" are called by their numbers.
  const isNumbered = ({ start: at, column, match }: ColumnLink) =>
    at === index + 1 && match !== 'synonym' && identifiesRows(columns[column])
  if (isLinked(index) && isCompound(words, index) && links.some(isNumbered)) index++
  const things = findThings(words, start, index, columns, conditions)
  if (things !== undefined) return new Set([things])
  // "Customers" of customers.csv are no accounts.
  const nouns = links.filter((link) => covers(link, index) && !(words[index]?.isTitle && link.match === 'synonym'))
  // "Which apartment" in apartments.csv asks for the name or number of the row, "what was the largest sale" also for the amount.
  // "Which leases end in 2026?" does not ask for the column "Lease end".
  const isRowNoun = isPlural(words[index]) && words[start]?.text === 'which'
  const isNamed = ({ match, column }: ColumnLink) => match === 'exact' && !(isRowNoun && columns[column]?.readings.date)
  if (words[index]?.isTitle && !nouns.some(isNamed)) {
    const name = findRowName(columns, words[index])
    // The name is shown with what is largest; a date is no name.
    const isExtreme = words.slice(start, index).some(isSuperlative) && columns[name]?.readings.date === undefined
    const amounts =
      words[start]?.text === 'what' && !isExtreme ? columns.flatMap((column, position) => (isMoney(column) ? [position] : [])) : []
    return new Set([name, ...amounts])
  }
  // "Which deposits" are those of rows.
  const isAmount = ({ column, match }: ColumnLink) => match === 'exact' && isPayment(columns[column] as Column)
  if (isRowNoun && nouns.some(isAmount)) return new Set([findRowName(columns, undefined)])
  // "Which employee" asks for the name, not for the number in the column Employee ID.
  const getShown = ({ column, match }: ColumnLink) =>
    (match === 'part' && isIdentifier(columns[column]?.header ?? '') ? findNameColumn(columns) : undefined) ??
    (column === 0 ? findRowName(columns, words[index]) : column)
  // "Customers" are the column "Customer No", not "Customer since".
  const best = Math.max(...nouns.map(({ match }) => RANKS[match]))
  return new Set(nouns.filter(({ match }) => RANKS[match] === best).map(getShown))
}

/** "The most expensive shrub" and "which shrubs" ask for the names of rows, where "shrub" is a value. Returns the column of the names. */
function findThings(
  words: readonly Word[],
  start: number,
  index: number,
  columns: readonly Column[],
  conditions: readonly LinkedCondition[],
): number | undefined {
  const isAsked = isSuperlative(words[index - 1] ?? { text: '' }) || (words[start]?.text === 'which' && index === start + 1)
  const value = conditions.find(({ start: at, match }) => at === index && match === 'exact')
  const next = words[value?.end ?? index]
  const isHead = next === undefined || (next.isStop && !next.isTitle) || isOperationWord(next)
  if (!isAsked || !value || !isHead || columns[value.condition.column]?.type !== 'text') return undefined
  const name = findNameColumn(columns) ?? findNamingColumn(columns)
  return name < 0 || name === value.condition.column ? undefined : name
}

/** "Our biggest customer" and "the highest expenses" ask for a sum, "the largest order" for a row. */
export function asksForLargestGroup(words: readonly Word[], { columns }: TypedTable, links: Links, measured: ReadonlySet<number>): boolean {
  if (measured.size > 0) return false
  return words.some(({ text }, index) => {
    if (!SIZE_WORDS.has(text) && text !== 'top' && text !== 'best') return false
    const next = words[index + 1]
    const isCount = (word: Word | undefined) => word?.number !== undefined || NUMBER_WORDS[word?.text ?? ''] !== undefined
    const isNumber = isCount(next)
    const noun = isNumber ? index + 2 : index + 1
    // "The five smallest invoices" are rows.
    const isSum = words[noun]?.isTitle === true && isPlural(words[noun]) && !isNumber && !isCount(words[index - 1]) && text !== 'top'
    const isGroup = links.columns.some(({ start, end, column, match }) => {
      const { header = '', type } = columns[column] ?? {}
      const isEntity = isPersonHeader(header) || PRODUCT_STEMS.has(splitWords(header).at(-1)?.stem ?? '')
      return start === noun && match !== 'synonym' && type === 'text' && isEntity && !links.columns.some((link) => link.start === end)
    })
    return isSum || isGroup
  })
}

/** "Who gave the biggest donation?" asks for one row, not for the most rows. */
export const asksForLargestRow = (words: readonly Word[]): boolean =>
  words.some(({ text }, index) => {
    const next = words[index + 1]
    return SIZE_WORDS.has(text) && next?.isTitle === true && !isPlural(next)
  })

/** Words before what a question counts or selects. */
export const HEADS = toWords('many which list show find')
/** Words after the name of a column that add nothing. */
export const SUFFIXES = toWords('type types kind name names group address')

export const isPlural = (word: Word | undefined): boolean => /[^s]s$/.test(word?.text ?? '')

const AFTER_NOUN = toWords('is are was were have has had do did that which we they')
/** "Supplier" of "which supplier invoices are", but not of "which supplier invoices the most". */
const isCompound = (words: readonly Word[], index: number): boolean =>
  isPlural(words[index + 1]) && AFTER_NOUN.has(words[index + 2]?.text ?? '')

/** "Bikes" of "how many bikes" where the rows have a "Bike type". */
export function isTypedNoun(words: readonly Word[], index: number, { columns }: TypedTable): boolean {
  const before = /ed$/.test(words[index - 1]?.text ?? '') ? words[index - 2] : words[index - 1]
  const isTypeOf = ({ header }: Column) => {
    const [noun, suffix, more] = splitWords(expandHeader(header))
    return noun?.stem === words[index]?.stem && SUFFIXES.has(suffix?.text ?? '') && more === undefined
  }
  return isPlural(words[index]) && HEADS.has(before?.text ?? '') && columns.some(isTypeOf)
}

/** "Directed" names a role that a stage manager does not have. */
export const namesOtherRole = (word: Word, { columns }: TypedTable): boolean => {
  const role = ROLE_VERBS.get(word.stem)
  return role !== undefined && !columns.some((column) => hasHeaderStem(column, role))
}

/** "Actor" does not mean the rows of a table of performances, which has other people. */
export const isOtherPerson = ({ stem }: Word, table: TypedTable): boolean =>
  PERSON_NOUNS.has(stem) && hasPeople(table.columns) && findNameColumn(table.columns) === undefined

/** Words after which a noun is what the question asks for, counts or groups by. */
const BEFORE_ASKED: ReadonlySet<string> = new Set([...HEADS, ...GROUP_WORDS, ...'what whose who different distinct unique'.split(' ')])

/** "Patients" of "how much is outstanding from patients", and "supplier" of "supplier invoices": every row has one. */
export function isMentioned(words: readonly Word[], index: number, { columns }: TypedTable, links: Links): boolean {
  const [before, word, next] = [words[index - 1], words[index], words[index + 1]]
  const isOfAllRows = ({ column }: ColumnLink) => columns[column]?.type === 'text' && !columns[column]?.hasEmptyCells
  const named = links.columns.filter(({ start, end, match }) => start === index && end === index + 1 && match !== 'synonym')
  const isNoun = named.length > 0 && named.every(isOfAllRows) && !links.conditions.some((condition) => covers(condition, index))
  // "Which training providers" asks for the providers, also in training.csv.
  const marker = before?.isTitle ? words[index - 2] : before
  const isAsked = marker === undefined || BEFORE_ASKED.has(marker.text) || isSuperlative(marker)
  const isBeforeNoun = next !== undefined && (next.isTitle || links.columns.some(({ start }) => start === index + 1))
  const isSaid = isAsked ? isBeforeNoun && isCompound(words, index) : isPlural(word) || isBeforeNoun
  return isNoun && isSaid && !words.some(({ text }) => AVERAGES.has(text))
}
