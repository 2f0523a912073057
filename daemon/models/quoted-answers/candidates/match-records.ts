/** Finds the records, table rows, statements, settings and options of a command that a question names. */
import { extractContentWords } from '../../../language/content-words.ts'
import { type Block, findTableHeader, type Part } from '../parse-passage.ts'
import { containsIdentifier, findIdentifiers } from '../question/find-identifiers.ts'
import { findAmounts, listAmountsInRange } from '../question/match-ranges.ts'
import { matchSubjects } from '../question/match-subjects.ts'

export interface RecordMatch {
  /** Whether the record has the most of the question's names, numbers and rare words. Undefined if no record has any. */
  isNamed: boolean | undefined
  /** Whether no record has a number of the question. */
  lacksNumber: boolean
}

interface RecordSet {
  /** Headings above the parts. */
  headings: string
  content: string
  blocks: readonly Block[]
  parts: readonly (Part & { words: ReadonlySet<string> })[]
}

/** A number, code or name says more than a rare word. */
const IDENTIFIER_WEIGHT = 3
/** Words that more of the records have, such as names of columns, do not tell them apart. */
const MAX_WORD_SHARE = 0.5
const MAX_WORDS = 40

export const isRecord = ({ block: { kind } }: Part): boolean => kind === 'record' || kind === 'row'

/** Sentences and settings share names and numbers; these differ in them. */
const hasIdentity = (part: Part) => isRecord(part) || part.block.kind === 'statement'

export function matchRecords(question: string, sets: readonly RecordSet[]): Map<Part, RecordMatch> {
  const identifiers = findIdentifiers(question)
  const amounts = findAmounts(question)
  // Numbers are identifiers: the 10 of a date is not version 10.
  const words = [...new Set(extractContentWords(question))].filter((word) => !/\d/.test(word)).slice(0, MAX_WORDS)
  const rows = sets.flatMap(({ headings, content, blocks, parts }) =>
    parts.filter(hasIdentity).map((part) => {
      const text = content.slice(part.start, part.end)
      const header = amounts.length > 0 && isRecord(part) ? readHeader(content, blocks, part) : undefined
      const ranges = header === undefined ? [] : listAmountsInRange(text, header, amounts).flatMap(({ forms }) => forms)
      return { part, text: `${headings}${text}`, ranges: new Set(ranges) }
    }),
  )
  // Of a table with ranges, a row with the same number in another column is not the one.
  const ranged = new Set(rows.flatMap(({ ranges }) => [...ranges]))
  const records = rows.map(({ part, text, ranges }) => {
    const found = identifiers.filter((identifier) =>
      ranged.has(identifier) ? ranges.has(identifier) : containsIdentifier(text, identifier),
    )
    // Rows and statements often contain sentences, whose words say little.
    return { part, terms: new Set(part.block.kind === 'record' ? [...found, ...words.filter((word) => part.words.has(word))] : found) }
  })
  const count = (term: string) => records.filter(({ terms }) => terms.has(term)).length
  const weights = new Map([
    ...words.map((word) => [word, weightWord(count(word), records.length)] as const),
    ...identifiers.map(
      (identifier) => [identifier, IDENTIFIER_WEIGHT * Math.log(1 + records.length / (count(identifier) || Infinity))] as const,
    ),
  ])
  const cover = (terms: ReadonlySet<string>) => [...weights].reduce((sum, [term, weight]) => sum + (terms.has(term) ? weight : 0), 0)
  const best = records.reduce((max, { terms }) => Math.max(max, cover(terms)), 0)
  const lacksNumber = identifiers.some((identifier) => /\d/.test(identifier) && count(identifier) === 0)
  const isNamed = (terms: ReadonlySet<string>) => (best > 0 ? cover(terms) >= best : undefined)
  return new Map([
    ...[...matchSubjects(question, sets)].map(([part, isNamed]) => [part, { isNamed, lacksNumber: false }] as const),
    ...records.map(({ part, terms }) => [part, { isNamed: isNamed(terms), lacksNumber }] as const),
  ])
}

function readHeader(content: string, blocks: readonly Block[], { blockIndex }: Part): string {
  const header = findTableHeader(content, blocks, blockIndex)
  return header ? (content.slice(header.start, header.end).split('\n', 1)[0] as string) : ''
}

const weightWord = (found: number, total: number) => (found > 0 && found <= MAX_WORD_SHARE * total ? Math.log(total / found) : 0)
