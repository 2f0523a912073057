/** Finds the records, table rows, statements, settings and options of a command that a question names. */
import { classifyConfigLine } from '../../language/classify-config-line.ts'
import { extractContentWords } from '../../language/content-words.ts'
import { type Block, findTableHeader, type Part } from './parse-passage.ts'
import { containsIdentifier, findIdentifiers } from './question/find-identifiers.ts'
import { createNameMatcher } from './question/match-names.ts'
import { findAmounts, listAmountsInRange } from './question/match-ranges.ts'

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
    ...records.map(({ part, terms }) => [part, { isNamed: isNamed(terms), lacksNumber }] as const),
    ...matchSettings(question, sets).map(([part, isNamed]) => [part, { isNamed, lacksNumber: false }] as const),
    ...findOthers(question, sets).map((part) => [part, { isNamed: false, lacksNumber: false }] as const),
  ])
}

function readHeader(content: string, blocks: readonly Block[], { blockIndex }: Part): string {
  const header = findTableHeader(content, blocks, blockIndex)
  return header ? (content.slice(header.start, header.end).split('\n', 1)[0] as string) : ''
}

/** Another item is the answer: "Which option overrides --foo?" */
const ASKS_FOR_OTHER =
  /\b(?:which|what|another|other)\s+(?:\w+\s+)?(?:option|flag|switch|setting|property|function|method|parameter|field)/i
const OPTION = /(?<![\p{L}\p{N}-])--?[a-z][\w-]*/giu
/** An item that describes options: "- `-m`/`--method METHOD`: …". */
const OPTION_ITEM = /^\s*(?:[-*+]\s+)?(?:[`*]*--?[a-z][\w-]*[`*]*[\s,/|]{0,3})+/i

/** Returns the names of the option that an item describes. */
export const findOption = ({ block }: Pick<Part, 'block'>, content: string): string | undefined =>
  block.kind === 'item' ? OPTION_ITEM.exec(content.slice(block.start, block.end))?.[0] : undefined

/** An item that describes a setting, property or function: "- `time.isoTime`: …". */
const NAME_ITEM = /^\s*[-*+]\s+[`*]*((?:[\w$]+\.)*([a-z$][\w$]*))(?:\([^)\n]{0,200}\))?[`*]*(?:\s|:|$)/i
/** Other words may be the beginning of a sentence. */
const IS_NAME = /[a-z][A-Z]|_|\./

function findDescribed(part: Part, content: string): string[] {
  const options = findOption(part, content)?.match(OPTION)
  if (options || part.block.kind !== 'item') return options ?? []
  const [, path = '', name = ''] = NAME_ITEM.exec(content.slice(part.block.start, part.block.end)) ?? []
  return IS_NAME.test(path) ? [name] : []
}

const SETTING_NAME = /^[\s#;/]*([\w.$-]+)/

/** Returns for each setting of a configuration file whether the question names it, if it names one. */
function matchSettings(question: string, sets: readonly RecordSet[]): [Part, boolean][] {
  const matchName = createNameMatcher(question)
  const settings = sets.flatMap(({ content, parts }) =>
    parts
      .filter(({ block }) => block.kind === 'setting')
      .map((part) => {
        const lines = content.slice(part.start, part.end).split('\n')
        const names = lines
          .filter((line) => classifyConfigLine(line, '', '').kind === 'setting')
          .map((line) => SETTING_NAME.exec(line)?.[1] ?? '')
        return { part, count: Math.max(0, ...names.map(matchName)) }
      }),
  )
  const most = settings.reduce((max, { count }) => Math.max(max, count), 0)
  return most > 0 ? settings.map(({ part, count }) => [part, count === most]) : []
}

const HEADING_NAME = /^[\s#`*.]*(-{0,2}[a-z][\w$.-]*)[`*]*(?:\([^)\n]{0,200}\))?[`*]*(?:\s*\([^)\n]{0,40}\))?:?\s*$/i

/** Returns the names that the item or the section of a part describes. */
function findSubjects(part: Part, { content, blocks, headings }: RecordSet): string[] {
  const described = findDescribed(part, content)
  if (described.length > 0) return described
  let index = part.blockIndex
  while (index >= 0 && blocks[index]?.kind !== 'heading') index--
  const block = blocks[index]
  const heading = block ? content.slice(block.start, block.end) : (headings.trim().split(' › ').at(-1) ?? '')
  const name = HEADING_NAME.exec(heading)?.[1] ?? ''
  return IS_NAME.test(name) || name.startsWith('--') ? [name] : []
}

/** Returns what items and sections say about other options or names than those in the question, if one of them is about these. */
function findOthers(question: string, sets: readonly RecordSet[]): Part[] {
  if (ASKS_FOR_OTHER.test(question)) return []
  const names = (question.match(/[\w$]+/g) ?? []).filter((word) => IS_NAME.test(word))
  const asked = new Set([...(question.match(OPTION) ?? []), ...names])
  const matchName = createNameMatcher(question)
  const match = (name: string) => (asked.has(name) ? Number.POSITIVE_INFINITY : asked.size > 0 ? 0 : matchName(name))
  const described = sets.flatMap((set) =>
    set.parts.flatMap((part) => {
      const subjects = findSubjects(part, set)
      return subjects.length > 0 ? [{ part, count: Math.max(...subjects.map(match)) }] : []
    }),
  )
  const most = described.reduce((max, { count }) => Math.max(max, count), 0)
  return most > 0 ? described.flatMap(({ part, count }) => (count < most ? [part] : [])) : []
}

const weightWord = (found: number, total: number) => (found > 0 && found <= MAX_WORD_SHARE * total ? Math.log(total / found) : 0)
