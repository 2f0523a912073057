/** Finds the name of a file that says what its text is about, for documents without headings. */

const MIN_LETTERS = 3
/** Names that programs and cameras give. */
const GENERIC = new Set(
  `copy data doc document dokument download export file image img index new output page print result scan seite temp test text tmp
  unbenannt unnamed untitled`.split(/\s+/),
)

/** Returns undefined for ids, hashes, numbers and generic names, which only add noise. */
export function findFileTitle(path: string): string | undefined {
  const name = path.replace(/^.*[/\\]/, '')
  const words = name.replace(/\.\w{1,10}$/, '').match(/[\p{L}\p{N}]+/gu) ?? []
  const isWord = (word: string) => !/\d/.test(word) && [...word].length >= MIN_LETTERS && !GENERIC.has(word.toLowerCase())
  // An id has parts of only letters by chance: 1f0c-beef-81d7.
  const isId = words.some((word) => word.length >= 4 && /\d.*\D|\D.*\d.*\D/.test(word) && /^[\da-f]+$/i.test(word))
  return !isId && words.some(isWord) ? name : undefined
}
