/** Reads a question over a table: the columns and values that it names, and the words that name its rows or only connect others. */

import { isPayment } from '../cells/column-roles.ts'
import { findNameColumn, isYear } from '../infer-columns.ts'
import { covers, type Question, type Span, splitWords, type Word } from '../parse-question.ts'
import type { Condition } from '../query.ts'
import { areSynonyms } from '../synonyms.ts'
import type { CellValue, TypedTable } from '../typed-table.ts'
import { GROUP_WORDS, isOperationWord, isSuperlative, PEOPLE_WORDS, PERSON_NOUNS, ROLE_VERBS } from '../vocabulary.ts'
import { linkQuestion } from './link-question.ts'
import { type ColumnLink, type LinkedCondition, type Links, listHeaderStems, listTitleStems, RANKS } from './links.ts'
import { isPersonHeader } from './question-nouns.ts'

export interface ReadQuestion {
  question: Question
  links: Links
  /** A word that is taken to mean the rows, although the table does not say so. */
  rowNoun?: string
}

/** The rows of a data file are what its questions are about; a table in a text may be about anything. */
const DATA_FILE = /\.(?:csv|tsv|jsonl?|ndjson|xlsx|xlsm|xls|ods)\b/i
export const isDataFile = ({ title }: TypedTable): boolean => DATA_FILE.test(title)

const HEADS: ReadonlySet<string> = new Set(['many', 'which', 'list', 'show', 'find'])
const SUBJECTS: ReadonlySet<string> = new Set(['have', 'has', 'had', 'that', 'who', 'which', 'been'])
/** Words after the name of a column that add nothing. */
const SUFFIXES: ReadonlySet<string> = new Set(['type', 'types', 'kind', 'name', 'names', 'group', 'address'])
/** A noun follows these. */
const NOUN_MARKERS: ReadonlySet<string> = new Set('the a an our my your their its this that from of in for by with to on at'.split(' '))
/** "Rented at least twice". */
const TIMES_PHRASE = /^(?:(?:at least|at most|more than|less than|fewer than|only|exactly|just) )?(?:once|twice|thrice|\w+ times)\b/
const VERBS: ReadonlySet<string> = new Set(['do', 'have', 'be'])
const AUXILIARIES: ReadonlySet<string> = new Set(['do', 'does', 'did'])
/** Verbs that state a condition. */
const CONDITION_VERBS: ReadonlySet<string> = new Set(['owe', 'owes', 'owed', 'lack', 'lacks', 'exceed', 'exceeds', 'miss', 'misses'])

interface ReadableTable {
  table: TypedTable
  /** Values that the question may name. */
  values: readonly CellValue[]
}

/** Reads a question that is known to be about a table. */
export function readTitledQuestion(parsed: Question, { table, values }: ReadableTable): ReadQuestion {
  const question = ignoreTitle(parsed, table)
  return { question, links: linkQuestion(question, table, values) }
}

/** Reads a question that may be about this table, another one, or something else. */
export function readQuestion(parsed: Question, item: ReadableTable, tables: readonly ReadableTable[]): ReadQuestion {
  const { table } = item
  const { question: titled, links: all } = readTitledQuestion(parsed, item)
  if (!isDataFile(table)) return { question: titled, links: all }
  const counted = findCountedAmounts(titled.words, table, all)
  const isCounted = ({ start, end }: Span) => start === counted && end === counted + 1
  const isTitleElsewhere = createTitleCheck(parsed, table, tables)
  const links = {
    columns: all.columns.filter((link) => !isPartOfValue(link, all) && !isSuffix(titled.words, link, all) && !isCounted(link)),
    conditions: all.conditions.filter(
      (condition) =>
        !isColumnName(titled.words, condition, table, all) &&
        !isOtherMeant(titled.words, condition, table, all) &&
        !isTitleElsewhere(condition) &&
        !isCounted(condition),
    ),
  }
  const names = tables.flatMap((other) => (other.table === table ? [] : listNames(other.table)))
  const isKnownElsewhere = ({ stem }: Word) => names.some((name) => name === stem || areSynonyms(name, stem))
  const spans = [...links.columns, ...links.conditions]
  const isLinked = (index: number) => spans.some((span) => covers(span, index))
  const isFree = (index: number) => {
    const word = titled.words[index]
    return (
      word !== undefined &&
      /^\p{L}{3,}$/u.test(word.text) &&
      !word.isStop &&
      !isName(word, titled.text) &&
      !isLinked(index) &&
      !isOperationWord(word) &&
      !isSuperlative(word)
    )
  }
  // A verb may also be a word of a column, such as "borrowed" beside "Borrowed on".
  const isFreeVerb = (index: number) => {
    const word = titled.words[index]
    const isColumn = links.columns.some((link) => link.match !== 'exact' && covers(link, index))
    return (
      word !== undefined &&
      !CONDITION_VERBS.has(word.text) &&
      !namesOtherRole(word, table) &&
      (isFree(index) ? !isKnownElsewhere(word) : isColumn && !links.conditions.some((condition) => covers(condition, index)))
    )
  }
  const asksForPerson = titled.words.some(({ text }) => text === 'who')
  const verbs = new Set(
    asksForPerson && !hasPeople(table)
      ? []
      : [
          ...listVerbs(titled.words, isFreeVerb, isLinked),
          ...listParticiples(titled.words, table, links),
          ...listComparedVerbs(titled.words, isFree, links),
        ],
  )
  const isAfterValue = (index: number) =>
    links.conditions.some(
      ({ end, match, condition }) => end === index && match === 'exact' && table.columns[condition.column]?.type === 'text',
    )
  const isOfRows = !['when', 'where'].includes(titled.words[0]?.text ?? '')
  const noun = findHead(titled.words, (index) => isOfRows && isFree(index) && !verbs.has(index), isAfterValue)
  const word = counted >= 0 ? titled.words[counted] : noun === undefined ? undefined : titled.words[noun]
  const isNamed = links.conditions.length > 0 || links.columns.some(({ match }) => match === 'exact')
  const isRowNoun = word !== undefined && isNamed && !isKnownElsewhere(word) && !isOtherPerson(word, table)
  const words = titled.words.map((each, index): Word => {
    if (isRowNoun && each === word) return { ...each, isStop: true, isTitle: true }
    return verbs.has(index) || isSuffix(titled.words, { start: index, match: 'synonym' }, links) ? { ...each, isStop: true } : each
  })
  return { question: { ...titled, words }, links, ...(isRowNoun ? { rowNoun: word.text } : {}) }
}

/** Returns the position of "deposits" in "how many deposits": amounts that are counted, not added up. Otherwise -1. */
function findCountedAmounts(words: readonly Word[], { columns }: TypedTable, { columns: links }: Links): number {
  const index = words.findIndex(({ text }) => text === 'many') + 1
  const text = words[index]?.text ?? ''
  const isAmount = ({ start, end, match, column }: ColumnLink) => {
    const { [column]: found } = columns
    return (
      start === index && end === index + 1 && match === 'exact' && found && isPayment(found) && text === `${found.header.toLowerCase()}s`
    )
  }
  return index > 0 && links.some(isAmount) ? index : -1
}

/** "Costumes" means costumes.xlsx, not a purpose of donations, unless the question names the donations. */
function createTitleCheck(parsed: Question, table: TypedTable, tables: readonly ReadableTable[]): (linked: LinkedCondition) => boolean {
  if (hasTitleWord(parsed, table)) return () => false
  const others = tables.filter((other) => other.table !== table && isDataFile(other.table))
  const stems = new Set(others.flatMap((other) => [...listTitleStems(other.table)]))
  return ({ start, end, match }) => match === 'exact' && end - start === 1 && stems.has(parsed.words[start]?.stem ?? '')
}

/** "Directed" names a role that a stage manager does not have. */
const namesOtherRole = (word: Word, { columns }: TypedTable): boolean => {
  const role = ROLE_VERBS.get(word.stem)
  return role !== undefined && !columns.some(({ header }) => listHeaderStems(header).some((stem) => role.has(stem)))
}

/** "Actor" does not mean the rows of a table of performances, which has other people. */
const isOtherPerson = ({ stem }: Word, table: TypedTable): boolean =>
  PERSON_NOUNS.has(stem) && hasPeople(table) && findNameColumn(table.columns) === undefined

/** Whether a word is written as a name, such as "Kranz". */
const isName = ({ text }: Word, question: string): boolean => question.slice(1).includes(text.slice(0, 1).toUpperCase() + text.slice(1))

const listNames = ({ title, columns }: TypedTable): string[] =>
  splitWords([title, ...columns.map(({ header }) => header)].join(' ').replaceAll(/[_./-]/g, ' ')).map(({ stem }) => stem)

/** Whether the question names the table. "Cost" may mean expenses.csv, but also a column of another table. */
export const hasTitleWord = ({ words }: Question, table: TypedTable): boolean => {
  const stems = listTitleStems(table)
  return words.some(({ stem, isStop }) => !isStop && stems.has(stem))
}

const hasPeople = ({ columns }: TypedTable): boolean => columns.some(({ header }) => isPersonHeader(header))

/** "Orders" in a question over orders.csv names the rows: no condition needs to explain it. */
export function ignoreTitle(question: Question, table: TypedTable): Question {
  const stems = listTitleStems(table)
  const isTitle = ({ text, stem, number }: Word) =>
    number === undefined &&
    (stems.has(stem) || [...stems].some((title) => areSynonyms(title, stem)) || (PEOPLE_WORDS.has(text) && hasPeople(table)))
  return { ...question, words: question.words.map((word) => (isTitle(word) ? { ...word, isStop: true, isTitle: true } : word)) }
}

/** Returns the verbs of "who teaches", "did Tanaka stay" and "which supplier delivers": what they connect is named by the other words. */
function listVerbs(words: readonly Word[], isFree: (index: number) => boolean, isNamedValue: (index: number) => boolean): number[] {
  const auxiliary = words.findIndex(({ text }) => AUXILIARIES.has(text))
  const main = words.findIndex((word, index) => auxiliary >= 0 && index > auxiliary + 1 && !word.isStop && !isNamedValue(index))
  const question = words.findIndex(({ text }) => text === 'who' || text === 'which')
  // "The compressor" and "the boat insurance" are no verbs.
  const isVerb = (index: number) => !NOUN_MARKERS.has(words[index - 1]?.text ?? '') && !isVerbAfter(words, index)
  const next = words[question]?.text === 'who' ? question + 1 : question + 2
  const isThirdPerson = words[question]?.text === 'who' || words[next]?.text.endsWith('s') === true
  return [...(main >= 0 && isFree(main) && isVerb(main) ? [main] : []), ...(question >= 0 && isThirdPerson && isFree(next) ? [next] : [])]
}

/** "Run" of "does the insurance run out" is the verb. */
const isVerbAfter = (words: readonly Word[], index: number): boolean => {
  const next = words[index + 1]
  return (
    next !== undefined &&
    (VERBS.has(next.text) || (!next.isStop && isOperationWord(next) && !isSuperlative(next) && !GROUP_WORDS.has(next.text)))
  )
}

/** "Vehicles that have driven more than 100,000 km", "rentals that lasted longer than 10 days": the comparison says what is measured. */
const listComparedVerbs = (words: readonly Word[], isFree: (index: number) => boolean, { columns, conditions }: Links): number[] =>
  words.flatMap(({ text }, index) => {
    const previous = words[index - 1]
    const isAfterSubject =
      previous !== undefined &&
      (previous.isTitle || SUBJECTS.has(previous.text) || columns.some(({ end, match }) => end === index && match !== 'synonym'))
    const rest = words.slice(index + 1).map((word) => word.text)
    const isCompared =
      conditions.some(({ start, match }) => start === index + 1 && match === 'comparison') || TIMES_PHRASE.test(rest.join(' '))
    return isAfterSubject && isCompared && /(?:ed|en|t|s)$/.test(text) && isFree(index) ? [index] : []
  })

/** "Type" of "fuel type" belongs to the column Fuel. */
const isSuffix = (words: readonly Word[], { start, match }: Pick<ColumnLink, 'start' | 'match'>, { columns }: Links): boolean =>
  match === 'synonym' &&
  SUFFIXES.has(words[start]?.text ?? '') &&
  columns.some((link) => link.end === start && link.match !== 'synonym') &&
  !columns.some((link) => link.match !== 'synonym' && covers(link, start))

const COMPARED: ReadonlySet<Condition['kind']> = new Set(['dates', 'months', 'weekdays', 'numbers', 'between'])

/** "Opened in May" and "cost less than 200" compare the columns that the words before name. */
function isOtherMeant(words: readonly Word[], { start, condition }: LinkedCondition, { columns }: TypedTable, links: Links): boolean {
  if (!COMPARED.has(condition.kind)) return false
  const reading = condition.kind === 'numbers' || condition.kind === 'between' ? 'number' : 'date'
  const isNear = ({ end, column }: ColumnLink) =>
    end <= start &&
    (columns[column]?.readings[reading] !== undefined || isYear(columns[column])) &&
    columns[column]?.type !== 'boolean' &&
    words.slice(end, start).every(({ isStop, isTitle }) => isStop && !isTitle)
  const near = links.columns.filter(isNear)
  const best = Math.max(...near.map(({ match }) => RANKS[match]))
  return near.length > 0 && !near.some(({ column, match }) => column === condition.column && RANKS[match] === best)
}

/** "Opened" is the column Opened, not the status "Open". */
const isColumnName = (
  words: readonly Word[],
  { start, end, match, condition }: LinkedCondition,
  { columns }: TypedTable,
  links: Links,
): boolean => {
  const text = words[start]?.text
  return (
    (match === 'exact' || match === 'part') &&
    end - start === 1 &&
    condition.kind === 'equals' &&
    !condition.values.some((value) => String(value).toLowerCase() === text) &&
    links.columns.some((link) => link.start === start && columns[link.column]?.header.toLowerCase() === text)
  )
}

/** "Which title was borrowed most often?" need not use the column "Borrowed on". */
const listParticiples = (words: readonly Word[], { columns }: TypedTable, links: Links): number[] =>
  links.columns.flatMap(({ column, start, match }) =>
    match !== 'synonym' &&
    columns[column]?.readings.date &&
    words[start]?.text.endsWith('ed') &&
    !links.conditions.some((condition) => condition.match === 'exact' && covers(condition, start))
      ? [start]
      : [],
  )

/** Returns the noun of "how many cars", "which electric cars" or "the mileage of diesel cars", if nothing else explains it. */
function findHead(
  words: readonly Word[],
  isFree: (index: number) => boolean,
  isAfterValue: (index: number) => boolean,
): number | undefined {
  const start = words.findIndex(({ text }) => HEADS.has(text))
  const head = words.findIndex((word, index) => start >= 0 && index > start && !(word.isStop && !word.isTitle) && !isSuperlative(word))
  const noun = words.findIndex((_, index) => isFree(index) && (index === head || isAfterValue(index)))
  return noun < 0 ? undefined : noun
}

/** "Beginner" in the column Level does not mean the column Start, too. */
const isPartOfValue = ({ start, end, match }: ColumnLink, { conditions }: Links): boolean =>
  match === 'synonym' && conditions.some((condition) => condition.match === 'exact' && condition.start <= start && condition.end >= end)
