/** Finds which words of a question name columns and values of a table, and which conditions they may state. */

import { stem as toStem } from '../../language/content-words.ts'
import { countsPeople, isIdentifier, isMoney } from '../cells/column-roles.ts'
import { expandHeader } from '../cells/header-words.ts'
import { covers, findPhrase, listLimits, type Question, type Span, splitWords, type Word } from '../parse-question.ts'
import type { Condition } from '../query.ts'
import { createBooleanConditions, createEmptyConditions, createZeroConditions } from '../states/link-booleans.ts'
import { createStateConditions } from '../states/link-states.ts'
import { createStatusConditions } from '../states/link-statuses.ts'
import { toPast } from '../states/link-verbs.ts'
import { areSynonyms, isOtherUnit, listUnitNames } from '../table-synonyms.ts'
import type { CellValue, Column, TypedTable } from '../typed-table.ts'
import { COLUMN_WORDS, toWords } from '../vocabulary.ts'
import { linkMethods } from '../wording/method-columns.ts'
import { isCurrency, readUnit } from '../wording/number-units.ts'
import { createColumnComparisons } from './compare-columns.ts'
import type { ColumnLink, LinkedCondition, Links } from './links.ts'

const MAX_CONDITIONS = 24
/** A value that is part of more cells than this is searched for with LIKE. */
const MAX_LISTED_VALUES = 4
const MIN_PREFIX_LENGTH = 5
/** Units and remarks are not asked for: "first_reply_h". */
const UNIT = /(?<=\S.*)\(.*\)|(?<=\S) (?:km|kg|g|kwh|mins?|h|l)$/i
const VERB_FORM = /(?:ed|ing)$/
const EXCEPTIONS = new Set(['not', 'except', 'excluding', 'besides', 'without', 'than', 'beside'])
/** What follows these is asked for or grouped by. */
const KIND_MARKERS = toWords('which what per each every by')
/** Of "Oil on canvas": a noun may stand before them. */
const INNER_PREPOSITIONS = toWords('on with in for from to of and')

interface CellRun extends Span {
  column: number
  text: string
  isExact: boolean
}

export function linkQuestion(question: Question, table: TypedTable, values: readonly CellValue[]): Links {
  const headers = [...linkColumns(question, table.columns), ...linkMethods(question, table.columns)]
  const columns = [...headers, ...(question.today === undefined ? [] : linkKinds(question, table.columns, values, headers))]
  const runs = values.flatMap((value) => findRuns(question, value))
  const valueConditions = createValueConditions(runs)
  const statuses = createStatusConditions(question, table.columns, valueConditions, values)
  const found = [
    ...valueConditions,
    ...statuses,
    ...negateConditions(question, [...valueConditions, ...statuses]),
    ...createNumberConditions(question, table.columns, columns, values),
    ...createDateConditions(question, table.columns),
    ...createBooleanConditions(question, table.columns, columns),
    ...createEmptyConditions(question, table.columns, columns),
    ...createZeroConditions(question, table.columns),
    ...createColumnComparisons(question, table.columns, columns),
    ...createStateConditions(question, table.columns, valueConditions, values),
  ]
  // The status "Waiting for parts" says what it is; that the column Parts is empty does not.
  const isInValue = ({ start, end, match }: LinkedCondition) =>
    (match === 'empty' || match === 'boolean' || match === 'row') &&
    valueConditions.some((value) => value.match === 'exact' && value.end - value.start > 1 && value.start <= start && value.end >= end)
  const limits = listLimits(question)
  // The number of "top 5" is no value of a row.
  const isLimit = ({ start, end }: Span) => limits.some((limit) => limit.start === start && limit.end === end)
  const ranked = found
    .filter((linked) => !isLimit(linked) && !isInValue(linked))
    .sort((a, b) => rankCondition(b) - rankCondition(a))
    .slice(0, MAX_CONDITIONS)
  return { columns, conditions: ranked }
}

const MATCH_RANKS = { exact: 1.5, comparison: 1.5, date: 1.2, boolean: 0.5, empty: 0.5, number: 0.6, part: 0, pair: 0, row: 0 }
const rankCondition = ({ start, end, match }: LinkedCondition) => end - start + MATCH_RANKS[match]

function linkColumns({ words, today }: Question, columns: readonly Column[]): ColumnLink[] {
  const date = columns.findIndex(({ readings }) => readings.date)
  // "Deliver" is the verb of "Delivered on" and "spend" that of "Hours spent", which have other stems.
  const pasts = words.map(({ text, stem }) => (today === undefined ? stem : toStem(toPast(text, words[0]?.text === 'when'))))
  return columns.flatMap(({ header, type, unit, readings, phrase }, index): ColumnLink[] => {
    const from = phrase === undefined ? -1 : findPhrase(words, phrase)
    if (phrase !== undefined) return from < 0 ? [] : [{ column: index, start: from, end: from + phrase.split(' ').length, match: 'exact' }]
    // Beside a date, the column Day is the weekday: "how many days" counts dates.
    const column = today !== undefined && date >= 0 && type === 'text' && header.toLowerCase() === 'day' ? date : index
    const headerWords = splitWords(expandHeader(header).replace(today ? UNIT : /(?<=\S.*)\(.*\)/, ''))
    const unitNames = listUnitNames(header, today === undefined ? '' : unit.toLowerCase())
    const means = (word: Word) =>
      wanted.some(({ stem }) => areSynonyms(stem, word.stem)) ||
      (today !== undefined &&
        (isAbbreviated(header, word) || (readings.number !== undefined && measures(columns[index] as Column, unitNames, word))))
    const content = headerWords.filter(({ isStop, text }) => !isStop || COLUMN_WORDS.has(text))
    const wanted = content.length > 0 ? content : headerWords
    const links: ColumnLink[] = []
    for (let start = 0; start < words.length; start++) {
      const word = words[start] as Word
      if (wanted.some(({ stem }) => stem === word.stem || stem === pasts[start])) {
        let end = start + 1
        const seen = new Set([word.stem])
        while (end < words.length && wanted.some(({ stem }) => stem === words[end]?.stem && !seen.has(stem)))
          seen.add(words[end++]?.stem ?? '')
        links.push({ column, start, end, match: seen.size >= new Set(wanted.map(({ stem }) => stem)).size ? 'exact' : 'part' })
        start = end - 1
      } else if (unitNames.has(word.text)) links.push({ column, start, end: start + 1, match: 'part' })
      else if (means(word) && !isOtherUnit(word.text, unitNames)) links.push({ column, start, end: start + 1, match: 'synonym' })
    }
    return links
  })
}

/** "Which room" where most values of a column are rooms: "Main room", "Side room". */
function linkKinds(
  { words }: Question,
  columns: readonly Column[],
  values: readonly CellValue[],
  links: readonly ColumnLink[],
): ColumnLink[] {
  return words.flatMap(({ stem }, start) => {
    if (!KIND_MARKERS.has(words[start - 1]?.text ?? '') || links.some((link) => covers(link, start))) return []
    return columns.flatMap(({ type }, column): ColumnLink[] => {
      const own = type === 'text' ? values.filter((value) => value.column === column) : []
      const ofKind = own.filter(({ stems }) => stems.length > 1 && (stems[0] === stem || stems.at(-1) === stem))
      return ofKind.length > 1 && ofKind.length >= own.length / 2 ? [{ column, start, end: start + 1, match: 'part' }] : []
    })
  })
}

/** "Licence" for "Lic. valid to". */
const isAbbreviated = (header: string, { text }: Word): boolean =>
  Array.from(header.matchAll(/\b(\p{L}{3,})\.(?! ?n[or]\b)/giu)).some(
    ([, short = '']) => text.length > short.length + 1 && text.startsWith(short.toLowerCase()),
  )

const PEOPLE = toWords('people persons guests visitors attendees participants diners heads pax')
const TIME_UNITS = ['hours', 'minutes']

/** "Long" for "first_reply_h", "people" for Covers. */
const measures = (column: Column, unitNames: ReadonlySet<string>, { text, stem }: Word): boolean =>
  (PEOPLE.has(text) && countsPeople(column)) || TIME_UNITS.some((unit) => unitNames.has(unit) && areSynonyms(toStem(unit), stem))

export function createCellValue(column: number, text: string): CellValue {
  const stems = splitWords(text).map(({ stem }) => stem)
  const bareLength = /[([]/.test(text) ? splitWords(text.replaceAll(/\([^)]*\)|\[[^\]]*\]/g, ' ')).length : stems.length
  return { column, text, stems, bareLength }
}

/** "Cleaner" is not the category "Cleaning". */
const isAgent = (word: string): boolean => /[^aeiou]ers?$/.test(word)
const isOtherAgent = ({ text }: Word, cell: string): boolean => isAgent(text) && !/er/i.test(cell)

/** "Cleanco" is no form of "cleaner". */
const INFLECTION = /^(?:[aeilnrsty]|al|an|ed|en|er|es|ia|ic|li|ly|ty)?$/
const isInflected = (word: string, cell: string): boolean =>
  word.length >= MIN_PREFIX_LENGTH &&
  ((word.startsWith(cell) && INFLECTION.test(word.slice(cell.length))) ||
    (cell.startsWith(word) && INFLECTION.test(cell.slice(word.length))))

/** Finds the longest parts of a question that are also in a cell. */
function findRuns({ words, stems }: Question, { column, text, stems: cell, bareLength }: CellValue): CellRun[] {
  const runs: CellRun[] = []
  // "German" for "Germany", "annually" for "annual".
  const [only = ''] = cell
  if (cell.length === 1 && only.length >= MIN_PREFIX_LENGTH && !stems.has(only))
    for (const [start, word] of words.entries())
      if (isInflected(word.stem, only) && !isOtherAgent(word, text)) runs.push({ column, text, start, end: start + 1, isExact: true })
  if (!cell.some((stem) => stems.has(stem))) return runs
  // "Given notice" for "notice given".
  if (cell.length === 2)
    for (let start = 0; start + 1 < words.length; start++)
      if (words[start]?.stem === cell[1] && words[start + 1]?.stem === cell[0] && cell[0] !== cell[1])
        return [...runs, { column, text, start, end: start + 2, isExact: true }]
  // "Oil paintings on canvas" for "Oil on canvas".
  const inner = cell.findIndex((stem, index) => index > 0 && index < cell.length - 1 && INNER_PREPOSITIONS.has(stem))
  if (inner > 0)
    for (let start = 0; start + cell.length < words.length; start++)
      if (cell.every((stem, index) => words[start + index + (index < inner ? 0 : 1)]?.stem === stem))
        return [...runs, { column, text, start, end: start + cell.length + 1, isExact: true }]
  for (let start = 0; start < words.length; start++)
    for (let from = 0; from < cell.length; from++) {
      const word = words[start] as Word
      if (word.stem !== cell[from] || isCurrency(word.unit) || isOtherAgent(word, text)) continue
      if (start > 0 && from > 0 && words[start - 1]?.stem === cell[from - 1]) continue
      let length = 1
      while (start + length < words.length && words[start + length]?.stem === cell[from + length]) length++
      const isStop = words.slice(start, start + length).every((word) => word.isStop)
      if (isStop && (length < cell.length || length < 2)) continue
      const isWhole = from === 0 && (length === cell.length || length === bareLength)
      // "Booked" is no part of "Northgate Books".
      if (!isWhole && length === 1 && VERB_FORM.test(words[start]?.text ?? '') && !text.toLowerCase().includes(words[start]?.text ?? ''))
        continue
      runs.push({ column, text, start, end: start + length, isExact: isWhole })
    }
  return runs
}

/** Joins the cells of a column that match the same words. */
function createValueConditions(runs: readonly CellRun[]): LinkedCondition[] {
  const groups = new Map<string, CellRun[]>()
  for (const run of runs) {
    const key = `${run.column} ${run.start} ${run.end}`
    groups.set(key, [...(groups.get(key) ?? []), run])
  }
  return [...groups.values()].flatMap((group): LinkedCondition[] => {
    const { column, start, end } = group[0] as CellRun
    const exact = [...new Set(group.filter(({ isExact }) => isExact).map(({ text }) => text))]
    const all = [...new Set(group.map(({ text }) => text))]
    const found: LinkedCondition[] = []
    if (exact.length > 0) found.push({ start, end, match: 'exact', condition: { kind: 'equals', column, reading: 'text', values: exact } })
    if (all.length > exact.length)
      found.push({ start, end, match: 'part', condition: createPartCondition(column, all, group[0] as CellRun) })
    return found
  })
}

/** "Except cancelled ones", "not paid": the rows without the value. */
function negateConditions({ words }: Question, conditions: readonly LinkedCondition[]): LinkedCondition[] {
  return conditions.flatMap((linked): LinkedCondition[] => {
    const { start, condition } = linked
    const isException = (index: number) => {
      const text = words[index]?.text ?? ''
      // "More than Acme" is a comparison.
      return EXCEPTIONS.has(text) && (text !== 'than' || ['other', 'rather'].includes(words[index - 1]?.text ?? ''))
    }
    const from = [start - 1, start - 2].find(isException)
    if (from === undefined || condition.kind !== 'equals') return []
    return [{ ...linked, start: from, condition: { ...condition, isNegated: true } }]
  })
}

function createPartCondition(column: number, texts: string[], { text, start, end }: CellRun): Condition {
  if (texts.length <= MAX_LISTED_VALUES) return { kind: 'equals', column, reading: 'text', values: texts }
  // The words as they are written in a cell.
  const words = text.match(/[\p{L}\p{N}]+/gu) ?? []
  const phrase = findCommonPhrase(words, texts, end - start)
  return phrase === undefined ? { kind: 'equals', column, reading: 'text', values: texts } : { kind: 'contains', column, phrase }
}

/** Returns words of a cell that all cells contain. */
function findCommonPhrase(words: readonly string[], texts: readonly string[], length: number): string | undefined {
  for (let start = 0; start + length <= words.length; start++) {
    const phrase = words.slice(start, start + length).join(' ')
    // The E of "E-bike" is no word of "Kids bike".
    const pattern = new RegExp(`(?<![\\p{L}\\p{N}])${phrase}(?![\\p{L}\\p{N}])`, 'iu')
    if (texts.every((text) => pattern.test(text))) return phrase
  }
  return undefined
}

function createNumberConditions(
  { numbers }: Question,
  columns: readonly Column[],
  links: readonly ColumnLink[],
  values: readonly CellValue[],
): LinkedCondition[] {
  const texts = columns.map((_, column) => values.filter((value) => value.column === column).map(({ text }) => text))
  return numbers.flatMap(({ start, end, value, until, comparison, isWord, isOrdinal, unit }) => {
    // "100 %" is a percentage if the table has percentages.
    const isUnitKnown = unit !== undefined && columns.some((column) => readUnit(column.unit.toLowerCase()) === unit)
    // "4 rooms" is a number of the column Rooms.
    const next = links.filter((link) => link.start === end && columns[link.column]?.readings.number)
    const named = next.filter(({ match }) => match !== 'synonym')
    const counted = named.length > 0 ? named : next
    return columns.flatMap(({ readings, header, unit: own }, column): LinkedCondition[] => {
      const isNamed = links.some((link) => link.column === column && link.match === 'exact')
      if (isUnitKnown && !isNamed && readUnit(own.toLowerCase()) !== unit) return []
      // "$500" is no number of kilowatt hours.
      if (isCurrency(unit) && !isMoney(columns[column] as Column)) return []
      if (counted.length > 0 && !counted.some((link) => link.column === column)) return []
      if (!readings.number || (comparison !== 'equal' && isIdentifier(header))) return []
      if (comparison === 'between')
        return [{ start, end, match: 'comparison', condition: { kind: 'between', column, from: value, to: until as number } }]
      if (comparison !== 'equal') return [{ start, end, match: 'comparison', condition: { kind: 'numbers', column, comparison, value } }]
      const digits = value
        .toLocaleString('en-US')
        .replace('.', '[.,]')
        .replaceAll(/,(?!\])/g, '[.,]?')
      const pattern = new RegExp(`(?<![\\d.,])${digits}(?!\\d|[.,]\\d)`)
      if (isOrdinal ? !links.some((link) => link.column === column && link.start === end) : isWord && value <= 1) return []
      if (!texts[column]?.some((text) => pattern.test(text))) return []
      return [{ start, end, match: 'number', condition: { kind: 'equals', column, reading: 'number', values: [value] } }]
    })
  })
}

function createDateConditions({ dates }: Question, columns: readonly Column[]): LinkedCondition[] {
  return dates.flatMap(({ start, end, from, to, months, weekdays, comparison }) =>
    columns.flatMap(({ readings }, column): LinkedCondition[] => {
      if (!readings.date) return []
      if (months) return [{ start, end, match: 'date', condition: { kind: 'months', column, months } }]
      if (weekdays) return [{ start, end, match: 'date', condition: { kind: 'weekdays', column, days: weekdays } }]
      const bounds = {
        equal: { from, to },
        less: { to: from },
        at_most: { to },
        more: { from: to },
        at_least: { from },
        between: { from, to },
      }
      return [{ start, end, match: 'date', condition: { kind: 'dates', column, ...bounds[comparison] } }]
    }),
  )
}
