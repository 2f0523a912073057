/** Finds the numbered steps below a heading that says what was asked for: "How do I clean the pump filter?" */
import { extractContentWords } from '../../../language/content-words.ts'
import { stripMarkdown } from '../../../language/parse-markdown.ts'
import { parseBlocks } from '../parse-passage.ts'
import { readAction } from '../question/detect-question-type.ts'
import { findLists } from './find-list.ts'
import type { FindList } from './quote-first-list.ts'
import { NUMBERED_ITEM, readItems } from './read-items.ts'

/** A heading with one word, such as "Filter", does not say what is done. */
const MIN_HEADING_WORDS = 2
const FILLER = new Set(extractContentWords('what are the steps list show tell give me'))
const WITHOUT = /\bwithout\b/i

/** Returns undefined if the question does not ask how something is done. */
export function createStepFinder(question: string): FindList | undefined {
  const [action] = extractContentWords(readAction(question) ?? '')
  if (action === undefined) return undefined
  const words = extractContentWords(question).filter((word) => !FILLER.has(word))
  const isWithout = WITHOUT.test(question)
  return ({ source, headings = [] }, content) => {
    const blocks = parseBlocks(content, source)
    const lists = new Map(findLists(content, blocks).map((list) => [list.first, list]))
    const document = extractContentWords([source, ...headings].join('\n'))
    let [heading, start] = [headings.at(-1) ?? '', 0]
    for (const [index, block] of blocks.entries()) {
      const list = lists.get(index)
      if (block.kind === 'heading') [heading, start] = [stripMarkdown(content.slice(block.start, block.end)), block.start]
      if (!list || !NUMBERED_ITEM.test(content.slice(block.start, block.end).trimStart())) continue
      if (!namesAction(heading, words, action) || WITHOUT.test(heading) !== isWithout) continue
      // Steps for another case do not have all words of the question.
      const said = new Set([...document, ...extractContentWords(content.slice(start, blocks[list.last]?.end))])
      return words.every((word) => said.has(word)) ? { lead: heading, items: readItems(content, blocks, list) } : undefined
    }
    return undefined
  }
}

function namesAction(heading: string, words: readonly string[], action: string): boolean {
  const named = new Set(extractContentWords(heading))
  return named.size >= MIN_HEADING_WORDS && named.has(action) && [...named].every((word) => words.includes(word))
}
