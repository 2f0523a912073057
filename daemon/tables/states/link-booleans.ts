/** Finds conditions on columns with yes and no, on empty cells and on zeros. */
import { expandHeader } from '../cells/header-words.ts'
import type { ColumnLink, LinkedCondition } from '../linking/links.ts'
import { findPatterns } from '../linking/links.ts'
import { HEADS, isPlural } from '../linking/question-nouns.ts'
import { covers, findPhrase, type Question, splitWords, type Word } from '../parse-question.ts'
import type { Condition } from '../query.ts'
import type { Column } from '../typed-table.ts'
import { EMPTY_WORDS, isOperationWord, OPPOSITES, toWords, ZERO_PHRASES } from '../vocabulary.ts'

const NEGATIONS = toWords('not no without isnt arent never missed lacks lack lacking outside')
/** "The receipt is missing" */
const MISSING = toWords('missing lacking absent')
/** "Still have to sign the form" */
const STILL_TO = /\b(?:still (?:have|has|need|needs) to|(?:have|has) yet to|yet to)\b/g
/** "The ADR certificate", "a first aid course" */
const PROOF = /^(?:certificate|course|training|form|card|badge|qualification)s?$/
/** "Photo" for "Photographed". */
const MIN_STEM_LENGTH = 5
const MAX_GAP = 3

/** "Suppliers without a phone number", "the item that was never counted". */
export function createEmptyConditions({ words }: Question, columns: readonly Column[], links: readonly ColumnLink[]): LinkedCondition[] {
  return links.flatMap(({ column, start, end }): LinkedCondition[] => {
    // "Items that do not have a supplier".
    const isSkipped = (word: Word) => (word.isStop || isOperationWord(word)) && !EMPTY_WORDS.has(word.text)
    const before = words.findLastIndex((word, index) => index < start && !isSkipped(word))
    const at = [start - 1, start - 2, before, end, end + 1].find((index) => EMPTY_WORDS.has(words[index]?.text ?? ''))
    if (at === undefined || !columns[column]?.hasEmptyCells || columns[column]?.type === 'boolean') return []
    return [{ start: Math.min(start, at), end: Math.max(end, at + 1), match: 'empty', condition: { kind: 'empty', column } }]
  })
}

/** "Which items are out of stock?" */
export function createZeroConditions({ words }: Question, columns: readonly Column[]): LinkedCondition[] {
  return ZERO_PHRASES.flatMap(([phrase, names]) => {
    const start = findPhrase(words, phrase)
    if (start < 0) return []
    return columns.flatMap(({ readings, header }, column): LinkedCondition[] => {
      if (!readings.number || !splitWords(header).some(({ text }) => names.has(text))) return []
      const condition: Condition = { kind: 'equals', column, reading: 'number', values: [0] }
      return [{ start, end: start + phrase.split(' ').length, match: 'exact', condition }]
    })
  })
}

/** "Remotely" states the value of the column "Remote". */
const isAdverb = (word: Word | undefined, { header }: Column): boolean =>
  word?.text.endsWith('ly') === true && splitWords(header).some(({ text }) => word.text === `${text}ly`)

/** "Which gifts" does not say that the column "Gift aid" is yes. */
const isRowNoun = (words: readonly Word[], index: number, { header }: Column): boolean =>
  HEADS.has(words[index - 1]?.text ?? '') && isPlural(words[index]) && !splitWords(header).some(({ text }) => text === words[index]?.text)

/** "Paid invoices", "unpaid invoices" and "invoices that are not paid" state the value of a column with yes and no. */
export function createBooleanConditions(question: Question, columns: readonly Column[], links: readonly ColumnLink[]): LinkedCondition[] {
  const { words } = question
  const create = (column: number, start: number, end: number, value: 0 | 1): LinkedCondition => ({
    start,
    end,
    match: 'boolean',
    condition: { kind: 'equals', column, reading: 'number', values: [value] },
  })
  const stated = links.filter(
    ({ column, start, match }) =>
      columns[column]?.type === 'boolean' &&
      (match !== 'synonym' || isAdverb(words[start], columns[column] as Column)) &&
      !(match === 'part' && isRowNoun(words, start, columns[column] as Column)),
  )
  const named = [...stated, ...(question.today === undefined ? [] : listBeginnings(words, columns))].map((link): LinkedCondition => {
    const { column, start } = link
    const end = PROOF.test(words[link.end]?.text ?? '') ? link.end + 1 : link.end
    const isOfColumn = (index: number) => links.some((other) => other.column === column && covers(other, index))
    const isGap = (from: number) =>
      words.slice(from, start).every((word, offset) => word.isStop || isOperationWord(word) || isOfColumn(from + offset))
    const negation = words.findLastIndex(
      ({ text }, index) => index < start && NEGATIONS.has(text) && (index >= start - MAX_GAP || isGap(index + 1)),
    )
    const still = findPatterns(words, STILL_TO).find((span) => span.end <= start && isGap(span.end))
    const missing = [end, end + 1].find((index) => MISSING.has(words[index]?.text ?? ''))
    if (negation >= 0) return create(column, negation, end, 0)
    if (missing !== undefined) return create(column, start, missing + 1, 0)
    return still ? create(column, still.start, end, 0) : create(column, start, end, 1)
  })
  const opposite = words.flatMap(({ text }, index) => {
    const rest = /^(?:un|in|non)([a-z]{3,})$/.exec(text)?.[1] ?? OPPOSITES[text]
    const stem = rest === undefined ? undefined : splitWords(rest)[0]?.stem
    return columns.flatMap(({ type, header }, column) =>
      type === 'boolean' && splitWords(header).some((word) => word.stem === stem) ? [create(column, index, index + 1, 0)] : [],
    )
  })
  return [...named, ...opposite]
}

/** "A photo" for the column "Photographed". */
const listBeginnings = (words: readonly Word[], columns: readonly Column[]): ColumnLink[] =>
  columns.flatMap(({ type, header }, column) =>
    type !== 'boolean'
      ? []
      : words.flatMap(({ text, stem, isStop }, start): ColumnLink[] => {
          const isBeginning = ({ text: name, stem: other }: Word) => other !== stem && name.startsWith(text.replace(/s$/, ''))
          return !isStop && text.length >= MIN_STEM_LENGTH && splitWords(expandHeader(header)).some(isBeginning)
            ? [{ column, start, end: start + 1, match: 'part' }]
            : []
        }),
  )
