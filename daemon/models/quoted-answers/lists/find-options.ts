/** Finds the options of the command that a question names: "What are the options of pack?" */
import { extractContentWords } from '../../../language/content-words.ts'
import { stripMarkdown } from '../../../language/parse-markdown.ts'
import type { ContextPassage } from '../../chat-model.ts'
import { parseBlocks } from '../parse-passage.ts'
import { asksForList, namesOptions } from '../question/detect-question-type.ts'
import { findOption } from '../question/match-subjects.ts'
import { findLists } from './find-list.ts'
import { formatItem } from './format-list.ts'
import type { FindList, FoundList } from './quote-first-list.ts'

/** Words that do not name the command. Any other word selects some of its options: "Which options are deprecated?" */
const FILLER = new Set(
  extractContentWords(
    'list name what which options flags switches command line are there have take accept support available all give show',
  ),
)

/** Returns undefined if the question does not ask for options. */
export function createOptionFinder(question: string): FindList | undefined {
  if (!asksForList(question) || !namesOptions(question)) return undefined
  const command = extractContentWords(question).filter((word) => !FILLER.has(word))
  return command.length === 0 ? undefined : (passage, content) => findOptions(command, content, passage)
}

/** Returns the options below the heading of the command, up to the next heading other than "Options". */
function findOptions(command: readonly string[], content: string, { source, headings = [] }: ContextPassage): FoundList | undefined {
  const blocks = parseBlocks(content, source)
  const lists = findLists(content, blocks)
  const isOption = blocks.map((block) => findOption({ block }, content) !== undefined)
  const title = headings.findLast((heading) => !isGeneric(heading))
  let lead = title !== undefined && isNamed(command, title) ? title : undefined
  const items: string[] = []
  for (const [index, block] of blocks.entries()) {
    const text = stripMarkdown(content.slice(block.start, block.end))
    if (block.kind === 'heading' && !isGeneric(text)) {
      if (items.length > 0) break
      lead = isNamed(command, text) ? text : undefined
    } else if (lead !== undefined && isOption[index]) {
      // With the paragraphs that describe it.
      const end = lists.find(({ first, last }) => first <= index && index <= last)?.last ?? index
      let last = index
      while (last < end && !isOption[last + 1]) last++
      items.push(formatItem(content.slice(block.start, blocks[last]?.end), 0))
    }
  }
  return lead === undefined || items.length === 0 ? undefined : { lead, items }
}

/** "Options" and "Command line options" name no command. */
const isGeneric = (heading: string): boolean => namesOptions(heading) && extractContentWords(heading).every((word) => FILLER.has(word))

const isNamed = (command: readonly string[], heading: string): boolean => {
  const words = new Set(extractContentWords(heading).filter((word) => !FILLER.has(word)))
  return words.size === new Set(command).size && command.every((word) => words.has(word))
}
