/** Finds the numbered steps below a heading that says what was asked for: "How do I clean the pump filter?" */
import { extractContentWords } from '../../../language/content-words.ts'
import { stripMarkdown } from '../../../language/parse-markdown.ts'
import type { ContextPassage } from '../../chat-model.ts'
import { parseBlocks } from '../parse-passage.ts'
import { asksForSteps, namesSteps } from '../question/detect-question-type.ts'
import { findLists } from './find-list.ts'
import { createList } from './format-list.ts'
import type { FindList } from './quote-first-list.ts'
import { NUMBERED_ITEM, readItems } from './read-items.ts'

/** A heading with one word, such as "Filter", does not say what is done. */
const MIN_HEADING_WORDS = 2
const FILLER = new Set(extractContentWords('what steps step procedure instructions list show tell explain need take follow do'))

/** Returns undefined if the question does not ask for steps. */
export function createStepFinder(question: string): FindList | undefined {
  if (!asksForSteps(question) && !namesSteps(question)) return undefined
  const words = extractContentWords(question).filter((word) => !FILLER.has(word))
  return (passage, content) => findSteps(words, passage, content)
}

/** The document, its headings and the steps must have all words of the question: other steps are for other cases. */
function findSteps(words: readonly string[], { source, headings = [] }: ContextPassage, content: string) {
  const said = new Set(extractContentWords([source, ...headings, content].join('\n')))
  if (!words.every((word) => said.has(word))) return undefined
  const blocks = parseBlocks(content, source)
  for (const list of findLists(content, blocks)) {
    const above = blocks.slice(0, list.first).findLast(({ kind }) => kind === 'heading')
    const heading = above ? stripMarkdown(content.slice(above.start, above.end)) : headings.at(-1)
    const items = readItems(content, blocks, list)
    if (heading !== undefined && NUMBERED_ITEM.test(items[0] as string) && isAsked(words, heading)) return createList(heading, items)
  }
  return undefined
}

const isAsked = (words: readonly string[], heading: string): boolean => {
  const named = new Set(extractContentWords(heading))
  return named.size >= MIN_HEADING_WORDS && [...named].every((word) => words.includes(word))
}
