/** Scores of an answer by its words alone. */

/** White space apart, the very same text. */
export const exact = (expected: string, actual: string): number => Number(tidy(expected) === tidy(actual))

/** Whether what is expected stands in the answer, whatever its case and line breaks. */
export const contains = (expected: string, actual: string): number =>
  Number(tidy(actual).toLowerCase().includes(tidy(expected).toLowerCase()))

/** How much of the words both share: the harmonic mean of precision and recall, each word counted as often as it occurs. */
export function tokenF1(expected: string, actual: string): number {
  const wanted = words(expected)
  const given = words(actual)
  if (wanted.length === 0 && given.length === 0) return Number(signs(expected) === signs(actual))
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

const tidy = (text: string): string => text.normalize('NFC').replaceAll(/\s+/g, ' ').trim()

/** Articles say nothing and are left out, as is usual for this score. */
function words(text: string): string[] {
  const cut = segments(text).filter(({ isWordLike }) => isWordLike)
  return cut.map(({ segment }) => segment).filter((word) => !ARTICLES.has(word))
}

/** What a text without words says: a thumb up is not a thumb down. */
function signs(text: string): string {
  const cut = segments(text).filter(({ isWordLike }) => !isWordLike)
  return cut.map(({ segment }) => segment.trim()).join('')
}

/** Cut by language, so that Chinese and Thai have words too. */
const segments = (text: string) => [...new Intl.Segmenter(undefined, { granularity: 'word' }).segment(text.normalize('NFKC').toLowerCase())]

const ARTICLES = new Set(['a', 'an', 'the'])
