/** Reads a question over a table: the columns and values that it names, and the words that name its rows or only connect others. */
import { covers, type Question, splitWords, type Word } from '../parse-question.ts'
import { areSynonyms } from '../synonyms.ts'
import type { CellValue, TypedTable } from '../typed-table.ts'
import { isOperationWord, isSuperlative, PEOPLE_WORDS } from '../vocabulary.ts'
import { linkQuestion } from './link-question.ts'
import type { ColumnLink, Links } from './links.ts'
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
  const links = { ...all, columns: all.columns.filter((link) => !isPartOfValue(link, all)) }
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
      (isFree(index) ? !isKnownElsewhere(word) : isColumn && !links.conditions.some((condition) => covers(condition, index)))
    )
  }
  const asksForPerson = titled.words.some(({ text }) => text === 'who')
  const verbs = new Set(
    asksForPerson && !hasPeople(table)
      ? []
      : [...listVerbs(titled.words, isFreeVerb, isLinked), ...listParticiples(titled.words, table, links)],
  )
  const isAfterValue = (index: number) =>
    links.conditions.some(
      ({ end, match, condition }) => end === index && match === 'exact' && table.columns[condition.column]?.type === 'text',
    )
  const noun = findHead(titled.words, (index) => isFree(index) && !verbs.has(index), isAfterValue)
  const word = noun === undefined ? undefined : titled.words[noun]
  const isNamed = links.conditions.length > 0 || links.columns.some(({ match }) => match === 'exact')
  const isRowNoun = word !== undefined && isNamed && !isKnownElsewhere(word)
  const words = titled.words.map((each, index): Word => {
    if (isRowNoun && each === word) return { ...each, isStop: true, isTitle: true }
    return verbs.has(index) ? { ...each, isStop: true } : each
  })
  return { question: { ...titled, words }, links, ...(isRowNoun ? { rowNoun: word.text } : {}) }
}

const listNames = ({ title, columns }: TypedTable): string[] =>
  splitWords([title, ...columns.map(({ header }) => header)].join(' ').replaceAll(/[_./-]/g, ' ')).map(({ stem }) => stem)

const listTitleStems = ({ title }: TypedTable) => new Set(splitWords(title.replaceAll(/[_./-]/g, ' ')).map(({ stem }) => stem))

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
  const next = words[question]?.text === 'who' ? question + 1 : question + 2
  const isThirdPerson = words[question]?.text === 'who' || words[next]?.text.endsWith('s') === true
  return [...(main >= 0 && isFree(main) ? [main] : []), ...(question >= 0 && isThirdPerson && isFree(next) ? [next] : [])]
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
