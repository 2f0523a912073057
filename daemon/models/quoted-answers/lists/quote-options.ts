/** Quotes the options of the command that a question names: "What are the options of pack?" */
import type { Neighbours } from '../../../core/tool.ts'
import { extractContentWords } from '../../../language/content-words.ts'
import { stripMarkdown } from '../../../language/parse-markdown.ts'
import type { ContextPassage } from '../../chat-model.ts'
import { joinSection } from '../extend-to-section.ts'
import { findOption } from '../match-records.ts'
import { parseBlocks } from '../parse-passage.ts'
import { asksForList, namesOptions } from '../question/detect-question-type.ts'
import { createList, formatItem, formatList, type QuotedList, shorten } from './quote-list.ts'

export async function quoteOptions(
  question: string,
  passages: readonly ContextPassage[],
  listNeighbours: (index: number) => Promise<Neighbours | undefined>,
): Promise<string | undefined> {
  if (!asksForList(question) || !namesOptions(question)) return undefined
  const words = new Set(extractContentWords(question))
  for (const [index, passage] of passages.entries()) {
    const { content } = joinSection(passage, (await listNeighbours(index)) ?? { before: [], after: [] })
    const list = findOptions(words, content, passage)
    if (list) return formatList(list, index + 1)
  }
  return undefined
}

/** Returns the options below a heading that the question names, up to the next heading. */
function findOptions(words: ReadonlySet<string>, content: string, { source, headings = [] }: ContextPassage): QuotedList | undefined {
  const commands = new Map<string, string[]>()
  let command = headings.findLast((heading) => !namesOptions(heading)) ?? ''
  for (const block of parseBlocks(content, source)) {
    const text = content.slice(block.start, block.end)
    if (block.kind === 'heading' && !namesOptions(text)) command = stripMarkdown(text)
    if (findOption({ block }, content) !== undefined) commands.set(command, [...(commands.get(command) ?? []), formatItem(text, 0)])
  }
  const found = [...commands].find(([name]) => isNamed(words, name))
  return found && createList(found[0], shorten(found[1]))
}

function isNamed(words: ReadonlySet<string>, heading: string): boolean {
  const name = extractContentWords(heading)
  return name.length > 0 && name.every((word) => words.has(word))
}
