/** Reads a question over a table: the columns and values that it names, and the words that name its rows or only connect others. */

import { findNamingColumn, identifiesRows, isPayment } from '../cells/column-roles.ts'
import { expandHeader } from '../cells/header-words.ts'
import { covers, type Question, type Span, splitWords, type Word } from '../parse-question.ts'
import { areSynonyms } from '../table-synonyms.ts'
import { isDataFile, type TypedTable } from '../typed-table.ts'
import { GROUP_WORDS, isOperationWord, isSuperlative, MONEY_STEMS, NUMBER_WORDS, toStems, toWords } from '../vocabulary.ts'
import { isGroupedPeriod, isUnit } from '../wording/measured-units.ts'
import {
  AUXILIARIES,
  isAgent,
  isModifier,
  listAttributes,
  listComparedVerbs,
  listMostVerbs,
  listParticiples,
  listVerbs,
} from './connecting-verbs.ts'
import { isOfInterval } from './interval-column.ts'
import { linkQuestion } from './link-question.ts'
import {
  type ColumnLink,
  isInValue,
  isLinked,
  isPartOfHeader,
  isPartOfValue,
  isWholeHeader,
  type LinkedCondition,
  type Links,
} from './links.ts'
import {
  isColumnName,
  isOnlyVerb,
  isOtherDeadline,
  isOtherLimit,
  isOtherMeant,
  isOtherMeasure,
  isOtherTime,
  isPartOfCode,
  isTimes,
} from './meant-conditions.ts'
import { getForm } from './question-form.ts'
import { HEADS, hasPeople, isMentioned, isOtherPerson, isPlural, isTypedNoun, namesOtherRole, SUFFIXES } from './question-nouns.ts'
import { isWorkOrTrade, PEOPLE_WORDS } from './role-words.ts'
import { createTitleCheck, ignoreTitle, type ReadableTable } from './title-words.ts'

export interface ReadQuestion {
  question: Question
  links: Links
  /** A word that is taken to mean the rows, although the table does not say so. */
  rowNoun?: string
}

const RELATIVES = toWords('that which who')
const ARTICLES = toWords('the a an our')
const PREPOSITIONS = toWords('in at from on with for to')
/** Verbs that state a condition: without a column for it, the question cannot be answered. */
const CONDITION_VERBS = toStems(
  `owe owed lack exceed miss complain cancel return refund fail quit resign damage break broke broken lose lost steal stole stolen waste
  reject decline forget forgot postpone reschedule skip dispute crash injure renew extend upgrade weigh`,
)

/** Reads a question that is known to be about a table. */
export function readTitledQuestion(
  parsed: Question,
  { table, values }: ReadableTable,
  tables: readonly ReadableTable[] = [],
): ReadQuestion {
  const question = ignoreTitle(parsed, table, values, tables)
  return { question, links: linkQuestion(question, table, values) }
}

/** Reads a question that may be about this table, another one, or something else. */
export function readQuestion(parsed: Question, item: ReadableTable, tables: readonly ReadableTable[]): ReadQuestion {
  const { table } = item
  const { question: titled, links: linked } = readTitledQuestion(parsed, item, tables)
  if (!isDataFile(table)) return { question: titled, links: linked }
  const all = {
    ...linked,
    columns: linked.columns.map((link) => (isWholeHeader(titled, link, table) ? { ...link, match: 'exact' as const } : link)),
  }
  const counted = findCountedAmounts(titled.words, table, all)
  const isCounted = ({ start, end }: Span) => start === counted && end === counted + 1
  const attributes = listAttributes(titled.words, table, all)
  const isTitleElsewhere = createTitleCheck(parsed, table, tables)
  const links = {
    columns: all.columns.filter(
      (link) =>
        !isPartOfValue(link, all) &&
        !isPartOfHeader(link, all) &&
        !isTitleElsewhere(link) &&
        !isSuffix(titled.words, link, all) &&
        !attributes.includes(link.start) &&
        !isTimes(titled.words, link.start) &&
        !isOtherTime(titled, link, table) &&
        !isGroupedPeriod(titled.words, link, all) &&
        !isOtherLimit(titled, link, table) &&
        !isOtherDeadline(titled.words, link, table, all) &&
        !isCounted(link),
    ),
    conditions: all.conditions.filter(
      (condition) =>
        !isColumnName(titled.words, condition, table, all) &&
        !isOtherMeant(titled.words, condition, table, all) &&
        !isTitleElsewhere(condition) &&
        !isOnlyVerb(titled.words, condition) &&
        !isPartOfCode(titled, condition) &&
        !isOtherMeasure(titled.words, condition, table) &&
        !isCounted(condition),
    ),
  }
  const names = tables.flatMap((other) => (other.table === table ? [] : listNames(other.table)))
  const isKnownElsewhere = ({ stem }: Word) =>
    names.some((name) => name === stem || areSynonyms(name, stem)) ||
    tables.some((other) => other.table !== table && other.values.some(({ stems }) => stems.includes(stem)))
  const isFree = (index: number) => {
    const word = titled.words[index]
    return (
      word !== undefined &&
      /^\p{L}{3,}$/u.test(word.text) &&
      !word.isStop &&
      !isName(word, titled.text) &&
      !CONDITION_VERBS.has(word.stem) &&
      !isLinked(links, index) &&
      !isOperationWord(word) &&
      (NUMBER_WORDS[word.text] ?? 0) < 2
    )
  }
  // "Drive" is the verb of the column "Driver".
  const isOfAgent = (index: number) =>
    !isAgent(titled.words[index]?.text ?? '') &&
    links.columns.some(
      ({ start, end, match, column }) =>
        start === index && end === index + 1 && match === 'exact' && isAgent(table.columns[column]?.header ?? ''),
    )
  // A verb may also be a word of a column, such as "borrowed" beside "Borrowed on".
  const isFreeVerb = (index: number) => {
    const word = titled.words[index]
    const isColumn = links.columns.some((link) => link.match !== 'exact' && covers(link, index)) || isOfAgent(index)
    return (
      word !== undefined &&
      !namesOtherRole(word, table) &&
      (isFree(index) ? !isKnownElsewhere(word) : isColumn && !links.conditions.some((condition) => covers(condition, index)))
    )
  }
  // A yes says that every word holds, and the verb of "how much" says what is measured.
  const mustBeNamed = ['boolean', 'amount'].includes(getForm(titled.words))
  const asksForPerson = titled.words.some(({ text }) => text === 'who')
  const isUnknown = (index: number) => isFree(index) && !isWorkOrTrade(titled.words[index]?.stem ?? '')
  const connecting = listVerbs(titled.words, isFreeVerb, (index) => isLinked(links, index) && !isOfAgent(index)).filter(
    (index) => !(mustBeNamed && isUnknown(index)),
  )
  const verbs = new Set(
    asksForPerson && !hasPeople(table.columns)
      ? []
      : [
          ...attributes,
          ...connecting,
          ...listParticiples(titled.words, table, links),
          ...listComparedVerbs(titled.words, isFree, links),
          ...listMostVerbs(titled.words, isFreeVerb, table, links),
        ],
  )
  // "Leave" of "leave requests" where a column is "Leave type".
  const isPartOfNoun = (index: number) =>
    HEADS.has(titled.words[index - 1]?.text ?? '') &&
    isPlural(titled.words[index + 1]) &&
    links.columns.some(({ start, end, match }) => start === index && end === index + 1 && match === 'part')
  const isAfterValue = (index: number) =>
    isPartOfNoun(index - 1) ||
    links.conditions.some(
      ({ end, match, condition: { column } }) =>
        match === 'exact' &&
        table.columns[column]?.type === 'text' &&
        (end === index || links.columns.some((link) => link.column === column && link.start === end && link.end === index)),
    )
  // What travel insurance costs is not what travel does.
  const canBeRow = (index: number) => isPlural(titled.words[index]) || getForm(titled.words) !== 'amount'
  // What the sofa has is not what the row of the sofa is.
  const naming = findNamingColumn(table.columns)
  const isThing = ({ match, condition }: LinkedCondition) => match === 'exact' && condition.column === naming
  const hasParts = titled.words.at(-1)?.text === 'have' && links.conditions.some(isThing)
  const isOfRows = !['when', 'where'].includes(titled.words[0]?.text ?? '')
  const noun = findRowNoun(
    titled.words,
    (index) => isOfRows && !hasParts && isFree(index) && !verbs.has(index),
    (index) => isAfterValue(index) && canBeRow(index),
  )
  const word = counted >= 0 ? titled.words[counted] : noun === undefined ? undefined : titled.words[noun]
  const isRowNoun =
    word !== undefined &&
    getForm(titled.words) !== 'boolean' &&
    (links.conditions.length > 0 || links.columns.some(({ match }) => match === 'exact')) &&
    !isKnownElsewhere(word) &&
    !['too', 'also'].includes(word.text) &&
    !isOtherPerson(word, table) &&
    !PEOPLE_WORDS.has(word.text) &&
    !isUnit(titled.words, titled.words.indexOf(word)) &&
    !(titled.words.at(-1)?.text === 'had' && titled.words.some(({ text }) => text === 'has' || text === 'have')) &&
    !asksForMore(titled.words, titled.words.indexOf(word), table, links)
  // "New tickets per month" are all tickets, when they began.
  const isNew = (index: number) =>
    titled.words[index]?.text === 'new' &&
    titled.words.some(({ text }) => text === 'many' || GROUP_WORDS.has(text)) &&
    titled.words[index + 1]?.isTitle === true &&
    !isInValue(links, index)
  const words = titled.words.map((each, index): Word => {
    if (isNew(index) || isModifier(titled.words, index, links)) return { ...each, isStop: true }
    // "How many lots" are rows where a column has their numbers.
    if (
      titled.words[index - 1]?.text === 'many' &&
      links.columns.some(({ start, column }) => start === index && table.columns[column]?.isReference)
    )
      return { ...each, isStop: true, isTitle: true }
    if (isRowNoun && (each === word || (titled.words[index + 1] === word && isPartOfNoun(index))))
      return { ...each, isStop: true, isTitle: true, isIgnored: true }
    const isNoun =
      isMentioned(titled.words, index, table, links) ||
      isDescribed(titled.words, index, table, links) ||
      isTypedNoun(titled.words, index, table) ||
      (isFree(index) && isOfInterval(titled.words, index, table, links))
    if (!(verbs.has(index) || isNoun || isSuffix(titled.words, { start: index, match: 'synonym' }, links))) return each
    return { ...each, isStop: true, ...(connecting.includes(index) && isUnknown(index) ? { isIgnored: true as const } : {}) }
  })
  return { question: { ...titled, words }, links, ...(isRowNoun ? { rowNoun: word.text } : {}) }
}

/** "Instruments" of "instruments that have not come back" and "customers" of "how much do customers owe" are the rows. */
function isDescribed(words: readonly Word[], index: number, { columns }: TypedTable, links: Links): boolean {
  const before = words.slice(Math.max(0, index - 3), index).map(({ text }) => text)
  const isSubjectOfVerb = AUXILIARIES.has(before.at(-1) ?? '') && (before.includes('much') || before.includes('long'))
  const isColumn = (at: number) =>
    links.columns.some((link) => link.match !== 'synonym' && covers(link, at) && columns[link.column]?.type === 'text')
  // "How much is still outstanding from supplier invoices": the state says which amounts are meant.
  const isOfState =
    words.some(({ text }) => text === 'much') && links.conditions.some(({ match }) => match === 'empty' || match === 'boolean')
  const noun = isOfState && isColumn(index) && isPlural(words[index + 1]) ? index + 1 : index
  return isPlural(words[noun]) && isColumn(noun) && (isOfState || isSubjectOfVerb || RELATIVES.has(words[index + 1]?.text ?? ''))
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

/**
 * Whether the noun of "which van" is something that rows only have: another word names the row ("order 4010"), or the noun does
 * something ("delivered"), is the object ("which medicine did Bella get") or the place ("which room is it in").
 */
function asksForMore(words: readonly Word[], noun: number, { columns }: TypedTable, links: Links): boolean {
  if (!['which', 'what'].includes(words[noun - 1]?.text ?? '')) return false
  const next = words[noun + 1]
  const isSingular = !isPlural(words[noun])
  const isVerb = next !== undefined && !next.isStop && /(?:ed|[^s]s)$/.test(next.text) && !MONEY_STEMS.has(next.stem)
  const namesRow = ({ match, condition: { column } }: LinkedCondition) =>
    (match === 'exact' || match === 'number') && (column === 0 || identifiesRows(columns[column]))
  return (
    AUXILIARIES.has(next?.text ?? '') ||
    ARTICLES.has(next?.text ?? '') ||
    PREPOSITIONS.has(words.at(-1)?.text ?? '') ||
    (isSingular && isVerb) ||
    links.conditions.some(namesRow)
  )
}

/** Whether a word is written as a name, such as "Kranz". */
export const isName = ({ text }: Word, question: string): boolean =>
  question.slice(1).includes(text.slice(0, 1).toUpperCase() + text.slice(1))

const listNames = ({ title, columns }: TypedTable): string[] =>
  splitWords([title, ...columns.map(({ header }) => expandHeader(header))].join(' ').replaceAll(/[_./-]/g, ' ')).map(({ stem }) => stem)

/** "Type" of "fuel type" belongs to the column Fuel. */
const isSuffix = (words: readonly Word[], { start, match }: Pick<ColumnLink, 'start' | 'match'>, { columns }: Links): boolean =>
  match === 'synonym' &&
  SUFFIXES.has(words[start]?.text ?? '') &&
  columns.some((link) => link.end === start && link.match !== 'synonym') &&
  !columns.some((link) => link.match !== 'synonym' && covers(link, start))

/** Returns the noun of "how many cars", "which electric cars" or "the mileage of diesel cars", if nothing else explains it. */
function findRowNoun(
  words: readonly Word[],
  isFree: (index: number) => boolean,
  isAfterValue: (index: number) => boolean,
): number | undefined {
  const start = words.findIndex(({ text }) => HEADS.has(text))
  const head = words.findIndex((word, index) => start >= 0 && index > start && !(word.isStop && !word.isTitle) && !isSuperlative(word))
  const noun = words.findIndex((_, index) => isFree(index) && (index === head || isAfterValue(index)))
  return noun < 0 ? undefined : noun
}
