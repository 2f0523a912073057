/** Finds the list that a sentence announces in the words of the question: "Which options can redact have?", "Its options are:". */
import { extractContentWords } from '../../../language/content-words.ts'
import { announces, parseBlocks } from '../parse-passage.ts'
import { asksForList, containsNegation, isPlural, readListedNoun } from '../question/detect-question-type.ts'
import { findLists, readLastSentence } from './find-list.ts'
import type { FindList } from './quote-first-list.ts'
import { readItems } from './read-items.ts'

/** Returns undefined if the question does not ask for a list. */
export function createAnnouncedListFinder(question: string): FindList | undefined {
  const [noun] = asksForList(question) ? extractContentWords(readListedNoun(question) ?? '') : []
  if (noun === undefined) return undefined
  const words = extractContentWords(question)
  const isNegated = containsNegation(question)
  return ({ source, headings = [] }, content) => {
    const blocks = parseBlocks(content, source)
    const context = extractContentWords([source, ...headings].join(' '))
    for (const list of findLists(content, blocks)) {
      const lead = readLastSentence(content, blocks[list.first - 1]) ?? ''
      if (!announces(lead) || readAnnouncedNoun(lead) !== noun || containsNegation(lead) !== isNegated) continue
      const said = new Set([...context, ...extractContentWords(lead)])
      if (words.every((word) => said.has(word)) && !addsCondition(words, lead)) return { lead, items: readItems(content, blocks, list) }
    }
    return undefined
  }
}

/** What is listed is the last noun in the plural: "Users can delete these files:". */
const readAnnouncedNoun = (lead: string): string | undefined =>
  extractContentWords((lead.match(/[\p{L}\p{N}]+/gu) ?? []).findLast(isPlural) ?? '')[0]

/** Whether the list is for a case that the question does not mention: "if you are self-employed". */
function addsCondition(words: readonly string[], lead: string): boolean {
  const condition = /\b(?:if|unless|when|for|other)\b[^,:]*/i.exec(lead)?.[0]
  return condition !== undefined && !extractContentWords(condition).some((word) => words.includes(word))
}
