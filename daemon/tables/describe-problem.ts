/** Says what was understood of a question over a table that cannot be computed, and what not. */
import { listUnknownWords, type QueryableTable } from './answer-table-question.ts'
import { describeConditions } from './describe-query.ts'
import { isInValue, type Links } from './linking/links.ts'
import { asksForNumber, asksForText, removeFiller } from './linking/question-form.ts'
import { readQuestion } from './linking/read-question.ts'
import { parseQuestion, type Question, type Word } from './parse-question.ts'
import type { TypedTable } from './typed-table.ts'
import { isDataFile } from './typed-table.ts'
import { TRIGGERS, toWords } from './vocabulary.ts'

const COMPUTING_WORDS: ReadonlySet<string> = new Set([
  ...TRIGGERS.average,
  ...TRIGGERS.median,
  ...TRIGGERS.share,
  ...TRIGGERS.extreme,
  ...['variance', 'deviation', 'total', 'sum', 'per', 'each', 'list', 'top', 'difference', 'compare', 'trend', 'growth'],
])
const QUESTION_WORDS = toWords('which what whose who')
const HOW_MANY = /\bhow (?:many|much)\b/i
/** A question with more unknown words is about something else. */
const MAX_UNKNOWN_WORDS = 2
const MAX_COLUMNS = 12

const isWordedAsComputation = (text: string, { words }: Question): boolean =>
  HOW_MANY.test(text) || words.some((word) => COMPUTING_WORDS.has(word.text))

/** Whether a question asks for a number or an extreme, which a table may say. */
export function asksForComputation(text: string): boolean {
  const parsed = parseQuestion(removeFiller(text))
  return !asksForText(parsed) && (isWordedAsComputation(text, parsed) || asksForNumber(parsed))
}

/** The best table comes first. Undefined: the question is not about a table. */
export function describeProblem<T extends TypedTable>(
  text: string,
  tables: readonly QueryableTable<T>[],
  today: string,
): { table: T; text: string; missing: string[] } | undefined {
  const parsed = parseQuestion(removeFiller(text), today)
  const isWorded = isWordedAsComputation(text, parsed)
  const isComputed = isWorded || asksForNumber(parsed)
  for (const { table, values } of tables) {
    // "How heavy is the machine?" may be answered by the text around a table.
    if (!isWorded && !isDataFile(table)) continue
    const { question, links } = readQuestion(parsed, { table, values }, tables)
    const unknown = listUnknownWords(question, links)
    const understood = listUnderstood(parsed, question, table, links)
    if (understood.length === 0) continue
    const missing = isDataFile(table) ? findMissingNoun(question, unknown, links) : undefined
    if (!isComputed && !missing) continue
    if (unknown.length <= (isComputed ? Math.min(MAX_UNKNOWN_WORDS, understood.length) : MAX_UNKNOWN_WORDS))
      return {
        table,
        text: formatProblem(table, understood, unknown, isComputed),
        missing: missing ? [missing.text] : [],
      }
  }
  return undefined
}

/** Returns what "What is the email address of Acme?" and "Which van delivered order 12?" ask for, if no column is called so. */
function findMissingNoun({ words }: Question, unknown: readonly Word[], links: Links): Word | undefined {
  const { columns, conditions } = links
  const start = words.findIndex(({ text }) => QUESTION_WORDS.has(text))
  // "What is Ann Lee's phone number?" names the row first.
  const index = words.findIndex(({ isStop }, position) => position > start && !isStop && !isInValue(links, position))
  const [noun, next] = [words[index], words[index + 1]]
  // "The full name" asks for the name, but "hourly pay" not for the column Fee.
  const isNamed = columns.some(({ start: from, match }) => from === index + 1 && match !== 'synonym')
  const isHead = words[start]?.text === 'who' || next === undefined || next.isStop || !isNamed || /(?:ed|[^s]s)$/.test(next.text)
  const namesRow = conditions.some(({ match, condition }) => ['exact', 'number', 'date'].includes(match) && condition.kind !== 'empty')
  return start >= 0 && noun && isHead && unknown.includes(noun) && namesRow ? noun : undefined
}

/** Returns the table, the columns and the conditions that the question names. */
function listUnderstood({ words }: Question, question: Question, table: TypedTable, { columns, conditions }: Links): string[] {
  const isTitled = question.words.some(({ isStop }, index) => isStop && words[index]?.isStop === false)
  const named = columns.filter(({ match, start }) => match !== 'synonym' && question.words[start]?.isStop === false)
  const headers = new Set(named.map(({ column }) => `the column ${table.columns[column]?.header}`))
  const exact = conditions.filter(({ match }) => match === 'exact' || match === 'date' || match === 'comparison')
  const first = exact.filter(({ start, end }, index) => !exact.slice(0, index).some((other) => other.start < end && start < other.end))
  return [...(isTitled ? ['the table'] : []), ...headers, ...first.map(({ condition }) => describeConditions(table, [condition]))]
}

function formatProblem(
  { title, columns }: TypedTable,
  understood: readonly string[],
  unknown: readonly Word[],
  isComputed: boolean,
): string {
  const missing = unknown.length === 0 ? 'what to compute' : unknown.map(({ text }) => `"${text}"`).join(' and ')
  const headers = columns.slice(0, MAX_COLUMNS).map(({ header }) => header)
  const more = columns.length > MAX_COLUMNS ? ', …' : ''
  return [
    `This is a question about ${title}, but ${isComputed ? 'I cannot compute it' : 'the table does not answer it'}.` +
      ` I understood ${understood.join(', ')}; I did not understand ${missing}.`,
    `Ask with the names of its columns (${headers.join(', ')}${more}), or use a chat model; to add one, run cadre models discover --add.`,
  ].join('\n\n')
}
