/** Finds the list that a sentence announces in the words of the question: "Which options can redact have?", "Its options are:". */
import { extractContentWords } from '../../../language/content-words.ts'
import { announces, parseBlocks } from '../parse-passage.ts'
import { asksForList, readListedNoun } from '../question/detect-question-type.ts'
import { findLists, readLastSentence } from './find-list.ts'
import { createList } from './format-list.ts'
import type { FindList } from './quote-first-list.ts'
import { readItems } from './read-items.ts'

/** Returns undefined if the question does not ask for a list. */
export function createAnnouncedListFinder(question: string): FindList | undefined {
  const [noun] = asksForList(question) ? extractContentWords(readListedNoun(question) ?? '') : []
  if (noun === undefined) return undefined
  const words = extractContentWords(question)
  return ({ source, headings = [] }, content) => {
    const blocks = parseBlocks(content, source)
    for (const list of findLists(content, blocks)) {
      const lead = readLastSentence(content, blocks[list.first - 1]) ?? ''
      const said = extractContentWords(lead)
      const context = new Set([...said, ...extractContentWords([source, ...headings].join(' '))])
      if (announces(lead) && said.includes(noun) && words.every((word) => context.has(word)))
        return createList(lead, readItems(content, blocks, list))
    }
    return undefined
  }
}
