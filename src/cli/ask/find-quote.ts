/** Finds what a reply quotes from a passage. */

export interface Quote {
  start: number
  end: number
}

/** Letters and digits that the beginning and the end of a quote must have in common with the passage. */
const ANCHOR_LENGTH = 24
/** Addresses of links can make a passage several times as long as its quote. */
const MAX_STRETCH = 4

/** Returns the words between quotation marks right before the first citation of a passage, otherwise the sentence before it. */
export function findCitedText(reply: string, index: number): string {
  const marker = reply.search(new RegExp(`\\[(?:\\d+\\s*[,;]\\s*)*${index}(?:\\s*[,;]\\s*\\d+)*\\]`))
  const before = reply.slice(0, Math.max(0, marker)).replace(/(?:\s*\[[\d\s,;]+\])*\s*$/, '')
  const quote = findOuterQuote(before) ?? /[“„«"]([^“”„«»"]+)[”“»"][.,]?$/.exec(before)?.[1]
  return quote ?? before.split(/(?<=[.!?])\s+|(?<=。)|\n|\[\d+\]/).at(-1) ?? ''
}

/** Returns the text between “ and ” at the end of the last paragraph. It can itself contain quotation marks. */
function findOuterQuote(text: string): string | undefined {
  const paragraph = text.slice(text.lastIndexOf('\n\n') + 1).replace(/[.,]$/, '')
  if (!paragraph.endsWith('”')) return undefined
  let depth = 0
  for (let at = paragraph.length - 1; at >= 0; at--) {
    if (paragraph[at] === '”') depth++
    else if (paragraph[at] === '“' && --depth === 0) return paragraph.slice(at + 1, -1)
  }
  return undefined
}

/** Finds a quote by its first and last letters and digits, because the passage also contains marks of Markdown and links. */
export function locateQuote(text: string, quote: string): Quote | undefined {
  const [wanted, found] = [extractLetters(quote).letters, extractLetters(text)]
  if (wanted === '') return undefined
  const head = wanted.slice(0, ANCHOR_LENGTH)
  const tail = wanted.slice(-ANCHOR_LENGTH)
  const first = found.letters.indexOf(head)
  const last = found.letters.indexOf(tail, first + Math.max(0, wanted.length - tail.length))
  if (first < 0 || last < 0 || last - first > MAX_STRETCH * wanted.length + ANCHOR_LENGTH) return undefined
  const [start, end] = [found.positions[first] as number, found.positions[last + tail.length - 1] as number]
  return { start, end: end + 1 }
}

/** Returns the letters and digits in lower case, and where each is in the text. */
function extractLetters(text: string): { letters: string; positions: number[] } {
  const positions: number[] = []
  let letters = ''
  for (const { 0: character, index } of text.matchAll(/[\p{L}\p{N}]/gu)) {
    const lower = character.toLowerCase()
    letters += lower
    for (let unit = 0; unit < lower.length; unit++) positions.push(index)
  }
  return { letters, positions }
}
