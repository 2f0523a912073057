/** Reads on if the answer announces what is in the next passage: the block after a colon, or the setting below a comment. */
import type { FollowingPassage } from '../../core/tool.ts'
import { classifyConfigLine } from '../../language/classify-config-line.ts'
import type { ContextPassage } from '../chat-model.ts'
import type { QuotableAnswer } from './list-candidates.ts'
import { type Part, parseBlocks } from './parse-passage.ts'

interface QuotedPassage {
  answer: QuotableAnswer
  passage: ContextPassage
}

/** Returns the answer in a passage that includes the next one of the same section, or both unchanged. */
export async function readAnnounced(quoted: QuotedPassage, readOn: () => Promise<readonly FollowingPassage[]>): Promise<QuotedPassage> {
  const { answer, passage } = quoted
  const { content, source, headings = [] } = passage
  const separator = findSeparator(content, answer.part)
  const next = separator === undefined ? undefined : (await readOn())[0]
  if (!next || next.headings.join('\n') !== headings.join('\n')) return quoted
  const text = `${content}${separator}${next.content}`
  const blocks = parseBlocks(text, source)
  const blockIndex = blocks.findIndex(({ end }) => end > answer.part.start)
  const block = blocks[blockIndex]
  if (!block) return quoted
  return { passage: { ...passage, content: text }, answer: { ...answer, blocks, part: { ...answer.part, block, blockIndex } } }
}

/** Returns what is between the end of a passage and what the part announces in the next one, or undefined if it announces nothing. */
function findSeparator(content: string, { start, end, block }: Part): string | undefined {
  if (block.kind !== 'setting') return /[:：]$/.test(content.slice(start, end)) && content.slice(end).trim() === '' ? '\n\n' : undefined
  const lines = content.slice(start).trimEnd().split('\n')
  const isComment = (line: string) => /^(?:comment|separator)$/.test(classifyConfigLine(line, '', '').kind)
  // Passages are divided at the marks between paragraphs of a comment, which are in neither of them.
  return lines.every(isComment) ? `\n${/[#;/]+/.exec(lines[0] as string)?.[0]}\n` : undefined
}
