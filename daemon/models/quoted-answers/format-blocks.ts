/** Formats the rows, code and lists that are quoted as they are written, and limits their length. */
import { parseFence } from '../../language/parse-markdown.ts'
import { type Block, findTableHeader, type Span } from './parse-passage.ts'

const MAX_BLOCK_LINES = 16
const MAX_BLOCK_LENGTH = 1_000
const MAX_SETTING_LINES = 3

/** Returns the index of the last of the blocks of the same kind below each other. */
export function findRunEnd(blocks: readonly Block[], index: number): number {
  const end = blocks.findIndex(({ kind }, at) => at > index && kind !== blocks[index]?.kind)
  return (end < 0 ? blocks.length : end) - 1
}

/** Rows are quoted with the header of their table, if the passage contains it. A header alone is no answer: the rows below it are. */
export function formatRows(content: string, blocks: readonly Block[], first: number, last: number): string {
  const header = findTableHeader(content, blocks, first)
  const isHeader = blocks[first] === header
  const end = isHeader ? findRunEnd(blocks, first) : blocks[last]?.kind === 'row' ? last : first
  const rows = blocks.slice(isHeader ? first + 1 : first, end + 1)
  const kept = header ? [header, ...rows] : rows
  return limitBlock(kept.map(({ start, end }) => content.slice(start, end).trim()).join('\n'))
}

/** Long code, records and settings are cut to the lines around the answer. */
export function formatCode(content: string, { kind, start, end, isComplete, language, settings }: Block, span: Span): string {
  const raw = content.slice(start, end)
  if (kind === 'code' && isComplete && fits(raw)) return raw
  const splitLines = (text: string) => text.split('\n').filter((line) => parseFence(line) === undefined)
  const lines = splitLines(raw)
  const before = splitLines(content.slice(start, Math.max(start, span.start))).length - 1
  const first = Math.max(0, Math.min(before - MAX_BLOCK_LINES / 2, lines.length - MAX_BLOCK_LINES))
  const kept = limitLines(lines.slice(first, first + MAX_BLOCK_LINES))
  const marked = [...(first > 0 ? ['…'] : []), ...kept, ...(first + kept.length < lines.length ? ['…'] : [])]
  // The comment says what a setting does; the line to write is below it.
  const below = settings ? ['…', ...limitLines(content.slice(settings.start, settings.end).split('\n').slice(0, MAX_SETTING_LINES))] : []
  return [`\`\`\`${language}`, ...marked, ...below, '```'].join('\n')
}

export const fits = (text: string) => text.length <= MAX_BLOCK_LENGTH && text.split('\n').length <= MAX_BLOCK_LINES

/** Keeps the beginning of a long list or table. */
export function limitBlock(text: string): string {
  return escapeReferences(fits(text) ? text : [...limitLines(text.split('\n').slice(0, MAX_BLOCK_LINES)), '…'].join('\n'))
}

function limitLines(lines: readonly string[]): string[] {
  const kept: string[] = []
  for (const line of lines) {
    if (kept.join('\n').length + line.length > MAX_BLOCK_LENGTH) break
    kept.push(line)
  }
  return kept
}

/** Code, and the document's own numbers in brackets. */
const CODE_OR_REFERENCE = /(`{3,}|~{3,})[\s\S]*?(?:\1|$)|`[^`\n]+`|\[(?=\d[\d\s,;–-]*\])/g

/** Adds a zero-width character to the document's own numbers in brackets, so that they are not read as citations. */
export const escapeReferences = (text: string) => text.replaceAll(CODE_OR_REFERENCE, (found) => (found === '[' ? '[\u2060' : found))

/** Removes the indentation of the first line from all lines. */
export function removeIndent(text: string): string {
  const indent = /^[ \t]*/.exec(text)?.[0] ?? ''
  return text
    .split('\n')
    .map((line) => (line.startsWith(indent) ? line.slice(indent.length) : line))
    .join('\n')
}
