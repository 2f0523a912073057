/** Adds what is around the passage of an answer in its section: a list, code or a sentence can begin before it, or go on after it. */
import type { NeighbouringPassage, Neighbours } from '../../core/tool.ts'
import { classifyConfigLine } from '../../language/classify-config-line.ts'
import type { ContextPassage } from '../chat-model.ts'
import type { QuotableAnswer } from './list-candidates.ts'
import { type Block, type Part, parseBlocks, parseParts, type Span } from './parse-passage.ts'

export interface QuotedPassage {
  answer: QuotableAnswer
  passage: ContextPassage
}

/** Returns the answer in the text of its section, or both unchanged if what is around them does not matter. */
export function extendToSection(quoted: QuotedPassage, neighbours: Neighbours | undefined): QuotedPassage {
  const { answer, passage } = quoted
  if (!neighbours || !goesOn(passage.content, answer.part)) return quoted
  const mark = answer.part.block.kind === 'setting' ? /[#;/]+/.exec(passage.content.slice(answer.part.start))?.[0] : undefined
  const section = joinSection(passage, neighbours, mark)
  const moved = moveAnswer(answer, { ...section, blocks: parseBlocks(section.content, passage.source) })
  return moved ? { answer: moved, passage: { ...passage, content: section.content } } : quoted
}

/** Returns the text of the section that a passage is in, and where the passage begins in it. */
export function joinSection(
  { content, headings = [] }: ContextPassage,
  { before, after }: Neighbours,
  commentMark?: string,
): { content: string; offset: number } {
  const isOutside = (neighbour: NeighbouringPassage) => neighbour.headings.join('\n') !== headings.join('\n')
  const separate = ({ gap }: NeighbouringPassage) => formatGap(gap, commentMark)
  const end = after.findIndex(isOutside)
  const head = before.slice(before.findLastIndex(isOutside) + 1).map((neighbour) => `${neighbour.content}${separate(neighbour)}`)
  const tail = after.slice(0, end < 0 ? undefined : end).map((neighbour) => `${separate(neighbour)}${neighbour.content}`)
  return { content: [...head, content, ...tail].join(''), offset: head.join('').length }
}

/** Rows, records and statements are quoted alone, and so are settings unless they consist of comments. */
function goesOn(content: string, { block, start }: Part): boolean {
  if (block.kind === 'setting') return content.slice(start).trimEnd().split('\n').every(isComment)
  return block.kind === 'text' || block.kind === 'item' || block.kind === 'code'
}

const isComment = (line: string) => /^(?:comment|separator)$/.test(classifyConfigLine(line, '', '').kind)

/** Passages contain no white space at their ends, and no marks between paragraphs of a comment. */
function formatGap(gap: number, mark = ''): string {
  return gap > 2 && mark !== '' ? `\n${mark}\n` : '\n'.repeat(Math.min(gap, 2))
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
