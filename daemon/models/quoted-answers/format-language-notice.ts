/** Explains a refusal if the question and the documents are in different languages. */
import { computeLatinShare } from '../../language/compute-latin-share.ts'
import { isOtherLanguage } from '../../language/content-words.ts'
import type { ContextPassage } from '../chat-model.ts'

const NOTICE = [
  'The question seems to be in another language than the documents. The embedded models read English and, less well, German, Spanish',
  'and French, and only documents in the language of the question. Ask in their language, add a chat model with',
  'cadre models discover --add, or choose a multilingual embedding model with cadre rag update NAME --embedding-model MODEL.',
].join(' ')

/** Returns undefined if at least half of the passages are in the language of the question. */
export function formatLanguageNotice(question: string, passages: readonly ContextPassage[]): string | undefined {
  const isLatin = (text: string) => computeLatinShare(text) >= 0.5
  const others = passages.filter(({ content }) => isLatin(question) !== isLatin(content) || isOtherLanguage(question, content))
  return others.length > passages.length / 2 ? NOTICE : undefined
}
