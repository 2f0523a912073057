/** Finds verbs that say in which state rows are: "did Acme pay" where the status is "paid". */
import type { LinkedCondition } from '../linking/links.ts'
import type { Question } from '../parse-question.ts'
import type { CellValue, Column } from '../typed-table.ts'

/** Other participles have the stem of their verb. Things stay in these states: what was ordered may have arrived since. */
const PARTICIPLES: ReadonlyMap<string, string> = new Map(
  `pay paid, buy bought, send sent, sell sold, win won, lose lost, steal stolen, break broken, lend lent, withdraw withdrawn,
  deliver delivered, collect collected, hold held, forget forgotten`
    .split(',')
    .map((pair) => pair.trim().split(' ') as [string, string]),
)
const ARTICLES: ReadonlySet<string> = new Set(['the', 'a', 'an', 'our', 'my', 'of', 'per'])

/** What happened is in the past: "how much does Acme pay" is not only about what is paid. */
export function createVerbConditions({ words }: Question, columns: readonly Column[], values: readonly CellValue[]): LinkedCondition[] {
  const did = words.findIndex(({ text }) => text === 'did')
  return words.flatMap(({ text }, start): LinkedCondition[] => {
    const participle = PARTICIPLES.get(text)
    if (participle === undefined || did < 0 || start <= did || ARTICLES.has(words[start - 1]?.text ?? '')) return []
    const create = (condition: LinkedCondition['condition']): LinkedCondition => ({
      start,
      end: start + 1,
      match: 'exact',
      isState: true,
      condition,
    })
    const meant = values.filter((value) => value.text.toLowerCase() === participle && columns[value.column]?.type === 'text')
    const ofColumns = columns.flatMap(({ header, type }, column) =>
      type === 'boolean' && header.toLowerCase() === participle ? [create({ kind: 'equals', column, reading: 'number', values: [1] })] : [],
    )
    return [...meant.map(({ column, text: value }) => create({ kind: 'equals', column, reading: 'text', values: [value] })), ...ofColumns]
  })
}

/** "Deliver" is the verb of "Delivered on". "Sell" is only that of "Sold on" if the question asks for a date, not for a price. */
export const toPast = (verb: string, isOfDate: boolean): string =>
  (isOfDate ? PARTICIPLES.get(verb) : undefined) ?? `${verb}ed`.replace(/(?<=[pls]en)ded$/, 't')
