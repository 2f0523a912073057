/** Scores of an answer by its words alone. */

/** White space apart, the very same text. */
export const scoreExact = (expected: string, actual: string): number => Number(normalizeSpace(expected) === normalizeSpace(actual))

/** Whether what is expected stands in the answer, whatever its case and line breaks. */
export const scoreContains = (expected: string, actual: string): number =>
  Number(normalizeSpace(actual).toLowerCase().includes(normalizeSpace(expected).toLowerCase()))

/** How much of the words both share: the harmonic mean of precision and recall, each word counted as often as it occurs. */
export function scoreTokenF1(expected: string, actual: string): number {
  const wanted = listWords(expected)
  const given = listWords(actual)
  if (wanted.length === 0 && given.length === 0) return Number(joinSymbols(expected) === joinSymbols(actual))
  const left = new Map<string, number>()
  for (const word of wanted) left.set(word, (left.get(word) ?? 0) + 1)
  let shared = 0
  for (const word of given) {
    const count = left.get(word) ?? 0
    if (count === 0) continue
    left.set(word, count - 1)
    shared++
  }
  return (2 * shared) / (wanted.length + given.length)
}

const normalizeSpace = (text: string): string => text.normalize('NFC').replaceAll(/\s+/g, ' ').trim()

/** Articles say nothing and are left out, as is usual for this score. */
function listWords(text: string): string[] {
  const cut = segmentWords(text).filter(({ isWordLike }) => isWordLike)
  return cut.map(({ segment }) => segment).filter((word) => !ARTICLES.has(word))
}

/** What a text without words says: a thumb up is not a thumb down. */
function joinSymbols(text: string): string {
  const cut = segmentWords(text).filter(({ isWordLike }) => !isWordLike)
  return cut.map(({ segment }) => segment.trim()).join('')
}

/** Cut by language, so that Chinese and Thai have words too. */
const segmentWords = (text: string) => [
  ...new Intl.Segmenter(undefined, { granularity: 'word' }).segment(text.normalize('NFKC').toLowerCase()),
]

const ARTICLES = new Set(['a', 'an', 'the'])
