/** Reads on if the next passage has more of the answer: what a colon announces, the rest of a list or of code, or a setting. */
import type { FollowingPassage } from '../../core/tool.ts'
import { classifyConfigLine } from '../../language/classify-config-line.ts'
import { isItem } from '../../language/parse-markdown.ts'
import type { ContextPassage } from '../chat-model.ts'
import type { QuotableAnswer } from './list-candidates.ts'
import { announces, parseBlocks } from './parse-passage.ts'

interface QuotedPassage {
  answer: QuotableAnswer
  passage: ContextPassage
}

/** Returns the answer in a passage that includes the next one of the same section, or both unchanged. */
export async function readAnnounced(quoted: QuotedPassage, readOn: () => Promise<readonly FollowingPassage[]>): Promise<QuotedPassage> {
  const { answer, passage } = quoted
  const { content, source, headings = [] } = passage
  const next = continuesBelow(content, answer) ? (await readOn())[0] : undefined
  if (!next || next.headings.join('\n') !== headings.join('\n')) return quoted
  // A paragraph below a list is no part of its last item, unless the item announces it.
  if (answer.blocks.at(-1)?.kind === 'item' && !announces(content) && !continuesList(next.content)) return quoted
  const text = joinPassages(content, next.content, findSeparator(content, answer))
  const blocks = parseBlocks(text, source)
  const blockIndex = blocks.findIndex(({ end }) => end > answer.part.start)
  const block = blocks[blockIndex]
  // Code that both passages contain in part can be parsed in another way.
  if (block?.start !== answer.part.block.start) return quoted
  return { passage: { ...passage, content: text }, answer: { ...answer, blocks, part: { ...answer.part, block, blockIndex } } }
}

/** The text of the next passage begins with the white space between them, unless the passages do not overlap. */
export const joinPassages = (content: string, next: string, separator = isItem(next) ? '\n' : '\n\n'): string =>
  `${content}${/^\s/.test(next) ? '' : separator}${next}`

/** Whether the passage begins with an item, or in the middle of one. */
function continuesList(next: string): boolean {
  const text = next.trimStart()
  const gap = next.slice(0, next.length - text.length)
  return isItem(text) || (gap !== '' && !/\n\s*\n/.test(gap))
}

/** Whether the answer announces what is below it, or is in a list, code or comment, that goes on in the next passage. */
function continuesBelow(content: string, { part, blocks }: QuotableAnswer): boolean {
  const { start, end, block, blockIndex } = part
  if (block.kind === 'setting') return content.slice(start).trimEnd().split('\n').every(isComment)
  const isLastOfBlock = content.slice(end, block.end).trim() === ''
  const isAnnouncing = isLastOfBlock && announces(content.slice(start, end))
  const below = blocks.slice(blockIndex + 1)
  // The block that the end of the passage may cut: the first one below, or that of the answer if it is the last one.
  const first = below[0] ?? block
  if (first.kind === 'code') return isLastOfBlock && below.length <= 1 && !first.isComplete
  if (!below.every(({ kind }) => kind === first.kind)) return false
  return first.kind === 'item' ? isAnnouncing || block.kind === 'item' : isAnnouncing && first.kind === 'text'
}

/** Passages are divided at the marks between paragraphs of a comment, which are in neither of them. */
function findSeparator(content: string, { part, blocks }: QuotableAnswer): string | undefined {
  if (part.block.kind === 'setting') return `\n${/[#;/]+/.exec(content.slice(part.start))?.[0]}\n`
  return blocks.at(-1)?.kind === 'code' ? '\n' : undefined
}

const isComment = (line: string) => /^(?:comment|separator)$/.test(classifyConfigLine(line, '', '').kind)
