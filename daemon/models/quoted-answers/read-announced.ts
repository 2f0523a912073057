/** Reads on if the next passage has more of the answer: what a colon announces, the rest of a list or of code, or a setting. */
import type { FollowingPassage } from '../../core/tool.ts'
import { classifyConfigLine } from '../../language/classify-config-line.ts'
import type { ContextPassage } from '../chat-model.ts'
import type { QuotableAnswer } from './list-candidates.ts'
import { parseBlocks } from './parse-passage.ts'

interface QuotedPassage {
  answer: QuotableAnswer
  passage: ContextPassage
}

/** Returns the answer in a passage that includes the next one of the same section, or both unchanged. */
export async function readAnnounced(quoted: QuotedPassage, readOn: () => Promise<readonly FollowingPassage[]>): Promise<QuotedPassage> {
  const { answer, passage } = quoted
  const { content, source, headings = [] } = passage
  const separator = findSeparator(content, answer)
  const next = separator === undefined ? undefined : (await readOn())[0]
  if (!next || next.headings.join('\n') !== headings.join('\n')) return quoted
  const rest = next.content.replace(/^\s*\n/, '')
  const endsInList = answer.blocks.at(-1)?.kind === 'item' && !/[:：]$/.test(content.trimEnd())
  const continuesList = /^[\s\p{Ll}]/u.test(rest) || parseBlocks(rest, source)[0]?.kind === 'item'
  // A paragraph below a list is no part of its last item.
  if (endsInList && !continuesList) return quoted
  const text = `${content.trimEnd()}${separator}${rest}`
  const blocks = parseBlocks(text, source)
  const blockIndex = blocks.findIndex(({ end }) => end > answer.part.start)
  const block = blocks[blockIndex]
  // Code that both passages contain in part can be parsed in another way.
  if (block?.start !== answer.part.block.start) return quoted
  return { passage: { ...passage, content: text }, answer: { ...answer, blocks, part: { ...answer.part, block, blockIndex } } }
}

/** Returns what is between the end of a passage and the rest of the answer in the next one, or undefined if there is no rest. */
function findSeparator(content: string, { part, blocks }: QuotableAnswer): string | undefined {
  const { start, end, block, blockIndex } = part
  if (block.kind !== 'setting') {
    const isLastOfBlock = content.slice(end, block.end).trim() === ''
    const isAnnouncing = isLastOfBlock && /[:：]$/.test(content.slice(start, end))
    const below = blocks.slice(blockIndex + 1)
    // The block that the end of the passage may cut: the first one below, or that of the answer if it is the last one.
    const first = below[0] ?? block
    const isOneKind = below.every(({ kind }) => kind === first.kind)
    if (isLastOfBlock && first.kind === 'code' && below.length <= 1 && !first.isComplete) return '\n'
    if (isOneKind && first.kind === 'item' && (isAnnouncing || block.kind === 'item')) return '\n'
    return isAnnouncing && isOneKind && first.kind === 'text' ? '\n\n' : undefined
  }
  const lines = content.slice(start).trimEnd().split('\n')
  const isComment = (line: string) => /^(?:comment|separator)$/.test(classifyConfigLine(line, '', '').kind)
  // Passages are divided at the marks between paragraphs of a comment, which are in neither of them.
  return lines.every(isComment) ? `\n${/[#;/]+/.exec(lines[0] as string)?.[0]}\n` : undefined
}
