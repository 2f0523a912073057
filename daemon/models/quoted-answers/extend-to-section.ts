/** Adds what is around the passage of an answer in its section: a list, code or a sentence can begin before it, or go on after it. */
import type { NeighbouringPassage, Neighbours } from '../../core/tool.ts'
import { classifyConfigLine } from '../../language/classify-config-line.ts'
import type { ContextPassage } from '../chat-model.ts'
import type { QuotableAnswer } from './candidates/list-candidates.ts'
import { type Block, parseBlocks, parseParts, type Span } from './parse-passage.ts'

export interface QuotedPassage {
  answer: QuotableAnswer
  passage: ContextPassage
  /** Whether the section has more text than was read. */
  isCut?: boolean
}

/** In characters, before the passage and after it. */
const MAX_LENGTH = 16_000

/** Returns the answer in the text of its section, or both unchanged if what is around them does not matter or is parsed in another way. */
export function extendToSection(quoted: QuotedPassage, neighbours: Neighbours | undefined): QuotedPassage {
  const { answer, passage } = quoted
  if (!neighbours || !canContinue(quoted)) return quoted
  const section = joinSection(passage, neighbours, answer.part.block.kind)
  const moved = moveAnswer(answer, { ...section, blocks: parseBlocks(section.content, passage.source) })
  return moved ? { answer: moved, passage: { ...passage, content: section.content }, isCut: section.isCut } : quoted
}

/** Rows, records and statements are quoted alone, and so are settings unless they consist of comments. */
export function canContinue({ answer: { part }, passage: { content } }: QuotedPassage): boolean {
  const { kind } = part.block
  if (kind === 'setting') return content.slice(part.start).trimEnd().split('\n').every(isComment)
  return kind === 'text' || kind === 'item' || kind === 'code'
}

const isComment = (line: string) => /^(?:comment|separator)$/.test(classifyConfigLine(line, '', '').kind)

/** Returns the text of the section that a passage is in, and where the passage begins in it. */
export function joinSection(
  { content, headings = [] }: ContextPassage,
  { before, after }: Neighbours,
  kind: Block['kind'] = 'item',
): { content: string; offset: number; isCut: boolean } {
  const mark = kind === 'setting' ? (/[#;/]+/.exec(content)?.[0] ?? '') : undefined
  const separate = ({ gap }: NeighbouringPassage) => formatGap(gap, kind, mark)
  const above = takeSection([...before].reverse(), headings)
  const below = takeSection(after, headings)
  const head = above.taken.reduce((text, neighbour) => `${neighbour.content}${separate(neighbour)}${text}`, '')
  const tail = below.taken.reduce((text, neighbour) => `${text}${separate(neighbour)}${neighbour.content}`, '')
  return { content: `${head}${content}${tail}`, offset: head.length, isCut: above.isCut || below.isCut }
}

/** Returns the neighbours with the same headings, closest first, as far as they fit. */
function takeSection(closestFirst: readonly NeighbouringPassage[], headings: readonly string[]) {
  const end = closestFirst.findIndex((neighbour) => neighbour.headings.join('\n') !== headings.join('\n'))
  const section = closestFirst.slice(0, end < 0 ? undefined : end)
  let length = 0
  const tooFar = section.findIndex(({ content }) => {
    length += content.length
    return length > MAX_LENGTH
  })
  return tooFar < 0 ? { taken: section, isCut: false } : { taken: section.slice(0, tooFar), isCut: true }
}

/** White space and marks between passages are not indexed: usually an empty line, or the indentation of an item or a line of code. */
function formatGap(gap: number, kind: Block['kind'], mark: string | undefined): string {
  if (gap <= 2) return '\n'.repeat(gap)
  if (mark !== undefined) return `\n${mark}\n`
  return kind === 'text' ? '\n\n' : `\n${' '.repeat(gap - 1)}`
}

interface Section {
  content: string
  blocks: readonly Block[]
  /** Where the passage begins in it. */
  offset: number
}

/** Returns undefined if the answer is in a block of another kind there, because code that a passage cuts is parsed as text. */
function moveAnswer(answer: QuotableAnswer, { content, blocks, offset }: Section): QuotableAnswer | undefined {
  const move = ({ start, end }: Span): Span => ({ start: start + offset, end: end + offset })
  const { start, end } = move(answer.part)
  const blockIndex = blocks.findIndex((block) => block.end > start)
  const block = blocks[blockIndex]
  // A passage that begins in an item or in code looks like text.
  const { kind } = answer.part.block
  const isSame = block?.kind === kind || (kind === 'text' && (block?.kind === 'item' || block?.kind === 'code'))
  if (!block || !isSame || block.start > start || block.end < end) return undefined
  // A sentence that the passage cuts is complete here.
  const parts = parseParts(content, [block]).filter((part) => part.start < end && part.end > start)
  const lastEnd = (answer.blocks[answer.lastBlock]?.end ?? 0) + offset
  return {
    ...answer,
    blocks,
    span: move(answer.span),
    part: { start: parts[0]?.start ?? start, end: parts.at(-1)?.end ?? end, block, blockIndex },
    lastBlock: Math.max(
      blockIndex,
      blocks.findLastIndex((other) => other.start < lastEnd),
    ),
  }
}
