/** Finds words of a question that say nothing about the rows of a table, so that the question can be read without them. */
import { listUnknownWords, type QueryableTable } from '../answer-table-question.ts'
import { type Links, listTableStems } from '../linking/links.ts'
import { removeFiller } from '../linking/question-form.ts'
import { isName, readQuestion } from '../linking/read-question.ts'
import type { ReadableTable } from '../linking/title-words.ts'
import { covers, parseQuestion, type Word } from '../parse-question.ts'
import { isDataFile, type TypedTable } from '../typed-table.ts'
import { isSuperlative, list, NEGATIONS, toWords } from '../vocabulary.ts'

/** A question without some of its words. */
export interface Omission {
  text: string
  /** Says what was left out. */
  note: string
  /** The columns that the answer must use, by table; other tables must not answer. */
  columns?: ReadonlyMap<string, ReadonlySet<number>>
}

const MAX_OMITTED = 2
const MAX_CLAUSES = 4

const CLAUSE_END = /(?:[,;:?!]+(?=\s|$)|[()]|\s[-–—]+(?=\s))\s*/
/** The clause says the same again. */
const PARAPHRASE = /^(?:i\. ?e\.?|ie|meaning|that is(?: to say)?|that means|in other words|namely|or rather)(?=\s|$),?\s*/i
const QUESTION =
  /^(?:(?:so|for|in|at|on|from|to|of|by|with) )?(?:how|which|what|who|whose|when|where|did|do|does|is|are|was|were|has|have)\b/i
/** A clause with one of these words says which rows count, or by what. */
const RESTRICTING: ReadonlySet<string> = new Set([...NEGATIONS, ...list('no only just including include too also both either')])
const MEASURING = /^(?:going|judging|measured|ranked|sorted|according|based|in terms)\b/i

/** The most careful readings come first. */
export function listOmissions(
  text: string,
  tables: readonly QueryableTable[],
  others: readonly ReadableTable[],
  today: string,
): Omission[] {
  const data = tables.filter(({ table }) => isDataFile(table))
  if (data.length === 0) return []
  return [...omitClauses(text, data, today), ...omitWords(text, data, others, today)]
}

/** "…, i.e. not paid yet", "…, counting all of them", "what do people complain about, which topic has the most tickets". */
function omitClauses(text: string, tables: readonly QueryableTable[], today: string): Omission[] {
  const clauses = text.split(CLAUSE_END).filter((clause) => clause.trim() !== '')
  if (clauses.length < 2 || clauses.length > MAX_CLAUSES) return []
  const read = (clause: string) => {
    const parsed = parseQuestion(removeFiller(clause), today)
    return { parsed, tables: tables.map((item) => ({ table: item.table, links: readQuestion(parsed, item, tables).links })) }
  }
  const omit = (isOmitted: (clause: string) => boolean): Omission[] => {
    const omitted = clauses.filter(isOmitted)
    const kept = clauses.filter((clause) => !isOmitted(clause))
    if (omitted.length === 0 || !kept.some((clause) => QUESTION.test(clause))) return []
    // What a paraphrase names, the answer must use.
    const named = omitted.filter(isParaphrase).flatMap((clause) => read(clause.replace(PARAPHRASE, '')).tables)
    const columns = new Map(named.map(({ table, links }) => [table.name, listNamed(links)]))
    const most = Math.max(0, ...[...columns.values()].map(({ size }) => size))
    const closest = new Map([...columns].filter(([, { size }]) => size === most))
    return [{ text: kept.join(', '), note: describeOmission(omitted), ...(most > 0 ? { columns: closest } : {}) }]
  }
  const isParaphrase = (clause: string) => PARAPHRASE.test(clause)
  const isAside = (clause: string) => !QUESTION.test(clause) && !isParaphrase(clause) && !says(clause)
  const hasConditions = (clause: string) => read(clause).tables.some(({ links }) => links.conditions.length > 0)
  return [
    ...omit(isAside),
    ...omit((clause) => isParaphrase(clause) || isAside(clause)),
    ...clauses
      .filter((clause) => QUESTION.test(clause))
      .reverse()
      .flatMap((kept) => omit((clause) => clause !== kept && QUESTION.test(clause) && !hasConditions(clause))),
  ]

  function says(clause: string): boolean {
    const { parsed, tables: linked } = read(clause)
    return (
      parsed.numbers.some(({ isWord, value }) => !isWord || value > 1) ||
      parsed.dates.length > 0 ||
      MEASURING.test(clause) ||
      parsed.words.some((word) => RESTRICTING.has(word.text) || isName(word, text)) ||
      linked.some(({ links }) => listNamed(links).size > 0)
    )
  }
}

/** The columns that words name, or state conditions on. */
const listNamed = ({ columns, conditions }: Links): Set<number> =>
  new Set([
    ...columns.flatMap(({ match, column }) => (match === 'synonym' ? [] : [column])),
    ...conditions.map(({ condition }) => condition.column),
  ])

const describeOmission = (omitted: readonly string[]): string =>
  `${omitted.map((part) => `“${part.trim()}”`).join(' and ')} ${omitted.length > 1 ? 'were' : 'was'} left out.`

/** Each unknown word must be one that can be left out. */
function omitWords(text: string, tables: readonly QueryableTable[], others: readonly ReadableTable[], today: string): Omission[] {
  const parsed = parseQuestion(removeFiller(text), today)
  return tables.flatMap((item): Omission[] => {
    const { table } = item
    const { question, links } = readQuestion(parsed, item, tables)
    const unknown = listUnknownWords(question, links)
    const known = new Set(others.flatMap((other) => listTableStems(other.table)))
    const places = unknown.map((word) => question.words.indexOf(word))
    const isNamed = links.conditions.length > 0 || links.columns.some(({ match }) => match !== 'synonym')
    if (places.length === 0 || places.length > MAX_OMITTED || !isNamed) return []
    if (unknown.some((word) => known.has(word.stem) || word.number !== undefined || isName(word, text))) return []
    if (!places.every((index) => isVerbOfMeasure(question.words, index, table, links) || isBusiness(question.words, index))) return []
    const omitted = unknown.map((word) => word.text)
    const rest = omitted.reduce(removeWord, text)
    return rest === text ? [] : [{ text: rest, note: describeOmission(omitted), columns: new Map([[table.name, new Set()]]) }]
  })
}

const removeWord = (text: string, word: string): string =>
  text.replace(new RegExp(String.raw`(?<![\p{L}\p{N}])${word}(?![\p{L}\p{N}])`, 'iu'), '')

const PARTICLES = toWords('up out off over down in around about back away on through with the a an')
const SUBJECTS = toWords('have has had been be being who that which we they you i he she')
const COUNTING = toWords('most least fewest')
const DETERMINERS = toWords('the our this')
/** What a business has or does follows or precedes these. */
const OWNING = toWords('of in at by do does did has have had is are')
/** What the owner of the tables is: all rows are about it. */
const BUSINESSES =
  toWords(`club company firm business practice organisation organization shop store agency parish school restaurant hotel gym gallery
    museum farm bakery garage clinic library charity association society cooperative house place`)

const isNumber = ({ columns }: TypedTable, { columns: links }: Links, index: number): boolean =>
  links.some((link) => {
    const { readings, type } = columns[link.column] ?? {}
    return covers(link, index) && readings?.number !== undefined && type !== 'boolean'
  })

/** "Solo shows draw more visitors", "has piled up the most overtime": what is measured says enough. */
function isVerbOfMeasure(words: readonly Word[], index: number, table: TypedTable, links: Links): boolean {
  const before = words[index - 1]
  const isAfterSubject =
    before !== undefined &&
    (before.isTitle || SUBJECTS.has(before.text) || [...links.columns, ...links.conditions].some(({ end }) => end === index))
  const at = words.findIndex(({ text }, position) => position > index && !PARTICLES.has(text))
  const extreme = words[at]
  if (!isAfterSubject || extreme === undefined || !isSuperlative(extreme)) return false
  return isNumber(table, links, at + 1) || (at === words.length - 1 && !COUNTING.has(extreme.text))
}

/** "Members of our club", "how many members does the parish have", but not "who paid for the hotel". */
const isBusiness = (words: readonly Word[], index: number): boolean =>
  BUSINESSES.has(words[index]?.text ?? '') &&
  DETERMINERS.has(words[index - 1]?.text ?? '') &&
  (OWNING.has(words[index - 2]?.text ?? '') || words[index + 1]?.text === 'have')
