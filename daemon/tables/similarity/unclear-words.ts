/** Finds words of a question over tables that name nothing there, and the names of columns and values that they may stand for. */
import { listUnknownWords, type QueryableTable } from '../answer-table-question.ts'
import { SECONDARY } from '../cells/column-roles.ts'
import { expandHeader } from '../cells/header-words.ts'
import { asksForComputation } from '../describe-problem.ts'
import { isLinked, type Links } from '../linking/links.ts'
import { removeFiller } from '../linking/question-form.ts'
import { FINITE, isPersonHeader } from '../linking/question-nouns.ts'
import { isName, readQuestion } from '../linking/read-question.ts'
import type { ReadableTable } from '../linking/title-words.ts'
import { parseQuestion, type Question, type Span, type Word } from '../parse-question.ts'
import { type Column, isDataFile, type TypedTable } from '../typed-table.ts'
import { AGGREGATE_WORDS, GROUP_WORDS, isSuperlative, list, toWords } from '../vocabulary.ts'
import { isUnit } from '../wording/measured-units.ts'

/** Words of a question, and the names of columns and values that they are compared with. */
export interface UnclearPhrase {
  phrase: string
  names: string[]
  /** Of the name that the words mean. */
  minSimilarity: number
}

/** By what words stand for. Chosen on questions with and without an answer (docs/decisions/0082-tables.md). */
const MIN_SIMILARITY = { measure: 0.5, any: 0.5, noun: 0.62, compound: 0.7 }
/** A question with more unknown words is about something else. */
const MAX_UNKNOWN_WORDS = 2
/** A column with more values has names, not kinds or states. */
const MAX_VALUES = 12
/** Of a name. Abbreviations have no meaning that can be compared. */
const MIN_LETTERS = 3
const MAX_LENGTH = 40
const MAX_NAMES = 300
/** They change what a verb means: "called off". */
const PARTICLES = toWords('off out up back over down away')
/** Headers that say nothing about what rows are, and columns with remarks. */
const GENERAL = /^(?:date|day|weekday|month|year|time|name|notes?|remarks?|comments?|number|id|ref|what|how|with)$/i
/** "Still have to send" is the opposite of "sent". */
const PENDING = /\b(?:still (?:have|has|had|need|needs)|yet) to\b/i
const NOTE = /\b(?:notes?|remarks?|comments?)\b/i
const REMARK = /\([^)]*\)|[€$£%#?]/g

/** `tables` are those that the question is read with, `others` are also compared with its unknown words. */
export function findUnclearPhrases(
  text: string,
  tables: readonly QueryableTable[],
  others: readonly ReadableTable[],
  today: string,
): UnclearPhrase[] {
  // A table in a text may be about anything.
  if (PENDING.test(text) || !(asksForComputation(text) || tables.some(({ table }) => isDataFile(table)))) return []
  const parsed = parseQuestion(removeFiller(text), today)
  const read = tables.map((item) => {
    const { question, links, rowNoun } = readQuestion(parsed, item, tables)
    const unknown = listUnknownWords(question, links)
    // A noun that was taken to mean the rows may also mean something else.
    const unclear = question.words.flatMap((word, index) => (unknown.includes(word) || word.text === rowNoun ? [index] : []))
    return { table: item.table, question, links, unclear, isClose: unknown.length <= MAX_UNKNOWN_WORDS && isUnderstood(question, links) }
  })
  const listNames = createNameList([...tables, ...others.filter(({ table }) => !tables.some((item) => item.table.name === table.name))])
  const found = new Map<string, UnclearPhrase>()
  for (const { table, question, links, unclear } of read.filter(({ isClose }) => isClose)) {
    // A word that another table knows keeps its meaning.
    const words = unclear.filter((index) => canMean(question, index) && read.every((other) => other.unclear.includes(index)))
    for (const span of listSpans(question, words, links)) {
      const [phrase, role] = [formatSpan(question, span), getRole(question.words, span)]
      found.set(phrase, { phrase, names: [...listNames(role)], minSimilarity: MIN_SIMILARITY[role] })
    }
    for (const { column, ...span } of listCompounds(question, words, table, links)) {
      const phrase = formatSpan(question, span)
      found.set(phrase, { phrase, names: [nameColumn(column)], minSimilarity: MIN_SIMILARITY.compound })
    }
  }
  return [...found.values()].filter(({ names }) => names.length > 0)
}

/** Whether words name the table, a column or a value. */
const isUnderstood = ({ words }: Question, { columns, conditions }: Links): boolean =>
  words.some(({ isTitle }) => isTitle) || columns.some(({ match }) => match !== 'synonym') || conditions.length > 0

/** A number, a unit, a name, and a part of what is paid, such as a discount, have no other meaning. */
const canMean = ({ words, text }: Question, index: number): boolean => {
  const word = words[index] as Word
  return (
    /^\p{L}{3,}$/u.test(word.text) &&
    !isName(word, text) &&
    !isUnit(words.slice(0, index + 1), index) &&
    !SECONDARY.test(word.text.replace(/s$/, ''))
  )
}

const formatSpan = ({ words }: Question, { start, end }: Span): string =>
  words
    .slice(start, end)
    .map(({ text }) => text)
    .join(' ')

/** Unknown words alone, and with the particle after them. */
function listSpans({ words }: Question, unknown: readonly number[], links: Links): Span[] {
  return unknown.flatMap((start): Span[] => {
    const isPhrasal = PARTICLES.has(words[start + 1]?.text ?? '') && !isLinked(links, start + 1)
    return [{ start, end: start + 1 }, ...(isPhrasal ? [{ start, end: start + 2 }] : [])]
  })
}

/** "First aid course" for the column "First aid" with yes and no. Other nouns say more than the name of the column before them. */
const listCompounds = ({ words }: Question, unknown: readonly number[], table: TypedTable, links: Links): (Span & { column: Column })[] =>
  unknown.flatMap((index) =>
    links.columns.flatMap(({ start, end, match, column: position }) => {
      const { [position]: column } = table.columns
      const isNext = end === index || (end === index - 1 && words[end]?.text === 'by')
      return isNext && match !== 'synonym' && column?.type === 'boolean' ? [{ start, end: index + 1, column }] : []
    }),
  )

/** What words stand for: what is measured, what is asked for or grouped by, or anything. */
type Role = 'measure' | 'noun' | 'any'

const NOUN_MARKERS: ReadonlySet<string> = new Set([...GROUP_WORDS, ...list('which what whose')])
const MEASURE_MARKERS: ReadonlySet<string> = new Set([...AGGREGATE_WORDS, 'much'])

function getRole(words: readonly Word[], { start }: Span): Role {
  const isMarker = (text: string) => NOUN_MARKERS.has(text) || MEASURE_MARKERS.has(text) || FINITE.has(text)
  const before = words.slice(0, start).findLast(({ isStop, text }) => !isStop || isMarker(text))
  if (before === undefined) return 'any'
  if (MEASURE_MARKERS.has(before.text) || isSuperlative(before)) return 'measure'
  return NOUN_MARKERS.has(before.text) ? 'noun' : 'any'
}

/** Returns a function that lists the names of tables that words in a role may stand for. */
function createNameList(tables: readonly ReadableTable[]): (role: Role) => readonly string[] {
  const known = new Map<Role, readonly string[]>()
  const canName = (name: string) => (name.match(/\p{L}/gu) ?? []).length >= MIN_LETTERS && name.length <= MAX_LENGTH
  const isMeasure = ({ readings, type }: Column) => readings.number !== undefined && type !== 'boolean'
  return (role) => {
    const create = () => {
      const names = tables.flatMap(({ table: { columns }, values }) => [
        ...columns.filter((column) => role === 'any' || isMeasure(column) === (role === 'measure')).map(nameColumn),
        ...(role === 'any' ? listKinds(columns, values) : []),
      ])
      return [...new Set(names.filter((name) => canName(name) && !GENERAL.test(name)))].slice(0, MAX_NAMES)
    }
    const names = known.get(role) ?? create()
    known.set(role, names)
    return names
  }
}

/** Returns the values of columns that say what kind rows are or in which state. */
function listKinds(columns: readonly Column[], values: ReadableTable['values']): string[] {
  const byColumn = new Map<number, string[]>()
  for (const { column, text } of values) byColumn.set(column, [...(byColumn.get(column) ?? []).slice(0, MAX_VALUES), text])
  return [...byColumn].flatMap(([column, texts]) => {
    const { type, header = '' } = columns[column] ?? {}
    return type !== 'text' || texts.length > MAX_VALUES || NOTE.test(header) || isPersonHeader(header) ? [] : texts
  })
}

/** The header without its unit. */
export const nameColumn = ({ header }: Column): string => expandHeader(header.replaceAll(REMARK, ' ')).trim()
