/** Selects the value of a record, table row or setting that answers a question. */
import { classifyConfigLine } from '../../language/classify-config-line.ts'
import { extractContentWords } from '../../language/content-words.ts'
import { expandQuery } from '../../language/expand-query.ts'
import { type Block, findTableHeader, type Span } from './parse-passage.ts'

interface Cell extends Span {
  column: string
  value: string
}

const MAX_VALUE_LENGTH = 100
/** The model must point at most of a value if the question does not name its column. */
const MIN_COVERED = 0.5
const FIELD = /^([^:\n]{1,80}): (.*)$/
const SETTING = /^[\s#;/]*([\w.$-]+)(?:\s*[=:]\s*|\s+)(\S.*?)(?:\s+[#;].*)?;?\s*$/

/** Returns undefined if it is not clear which value answers the question. */
export function selectValue(
  question: string,
  content: string,
  blocks: readonly Block[],
  blockIndex: number,
  span: Span,
): string | undefined {
  const block = blocks[blockIndex] as Block
  const cells = (block.kind === 'row' ? parseRow(content, blocks, blockIndex) : parseFields(content, block)).filter(({ value }) =>
    isValue(value),
  )
  const questionWords = new Set([...extractContentWords(question), ...expandQuery(question).flatMap(extractContentWords)])
  const isKnown = (value: string) => extractContentWords(value).every((word) => questionWords.has(word))
  const unknown = cells.filter(({ value }) => !isKnown(value)).map((cell) => ({ ...cell, share: computeShare(cell.column, questionWords) }))
  const best = unknown.reduce((highest, { share }) => Math.max(highest, share), 0)
  const pointed = unknown.find(({ start, end }) => span.start < end && span.end > start)
  const candidates = best > 0 ? unknown.filter(({ share }) => share === best) : []
  if (candidates.length > 0) {
    const column =
      pointed && candidates.includes(pointed) ? pointed : candidates.length === 1 && (best === 1 || !pointed) ? candidates[0] : undefined
    return column?.value
  }
  if (!pointed || spansCells(span, pointed)) return undefined
  // One of several dates or numbers of a record: the model may have pointed at the wrong one.
  if (unknown.some((cell) => cell !== pointed && getShape(cell.value) === getShape(pointed.value))) return undefined
  return Math.min(span.end, pointed.end) - Math.max(span.start, pointed.start) >= MIN_COVERED * pointed.value.length
    ? pointed.value
    : undefined
}

const getShape = (value: string) => (/\d/.test(value) ? value.replaceAll(/\d+/g, '0') : value)

/** Returns the share of the words of a column's name that the question contains. */
function computeShare(column: string, questionWords: ReadonlySet<string>): number {
  const words = extractContentWords(column.replaceAll(/[_.]/g, ' ').replaceAll(/(?<=\p{Ll})(?=\p{Lu})/gu, ' '))
  return words.length === 0 ? 0 : words.filter((word) => questionWords.has(word)).length / words.length
}

/** Whether the span reaches into the line of another cell. */
const spansCells = (span: Span, cell: Span) => span.start < cell.start - MAX_VALUE_LENGTH || span.end > cell.end + 1

const isValue = (value: string) => value.length <= MAX_VALUE_LENGTH && /[\p{L}\p{N}]/u.test(value) && !/\|\s|-{3}/.test(value)

function parseFields(content: string, { start, end, kind }: Block): Cell[] {
  const cells: Cell[] = []
  let from = start
  const isField = (line: string) => kind !== 'setting' || classifyConfigLine(line, '', '').kind === 'setting'
  for (const line of content.slice(start, end).split('\n')) {
    const [, column, value] = (isField(line) && (kind === 'setting' ? SETTING : FIELD).exec(line)) || []
    const at = value === undefined ? -1 : line.lastIndexOf(value)
    if (column !== undefined && value !== undefined)
      cells.push({ column, value: value.trim(), start: from + at, end: from + at + value.length })
    from += line.length + 1
  }
  return cells
}

function parseRow(content: string, blocks: readonly Block[], blockIndex: number): Cell[] {
  const header = findTableHeader(content, blocks, blockIndex)
  const columns = header ? splitCells(content, header.start).map(({ value }) => value) : []
  return splitCells(content, (blocks[blockIndex] as Block).start).map((cell, index) => ({ ...cell, column: columns[index] ?? '' }))
}

/** Splits the first line of a row; a header also contains the delimiter row. */
function splitCells(content: string, start: number): Cell[] {
  const newline = content.indexOf('\n', start)
  const line = content.slice(start, newline < 0 ? content.length : newline)
  let from = start
  const cells = line.split(/(?<!\\)\|/).map((text) => {
    const cell = { column: '', value: text.replaceAll(/[`*]/g, '').trim(), start: from, end: from + text.length }
    from += text.length + 1
    return cell
  })
  return /^\s*\|/.test(line) ? cells.slice(1) : cells
}
