/** What of a passage can be quoted: its sentences and the rows of its tables. Code is neither. */

export interface Quotable {
  text: string
  /** Of a table. */
  row: boolean
}

const FENCE = /^\s*(?:```|~~~)/
/** Nobody quotes more at once; what is longer is most often code whose fences stand in other passages. */
const LONGEST = 400

export function quotable(content: string): Quotable[] {
  return sentencesOf(withoutCode(content.split('\n'))).filter(({ text }) => text.length <= LONGEST && /\p{L}{2}|[\p{Script=Han}\p{Script=Thai}]/u.test(text))
}

/** A passage may begin in the middle of code: then the first fence is one that ends it, and no language stands behind it. */
function withoutCode(lines: readonly string[]): string {
  const fences = lines.filter((line) => FENCE.test(line))
  let within = fences.length % 2 === 1 && /^\s*(?:```|~~~)\s*$/.test(fences[0] as string)
  const prose: string[] = []
  for (const line of lines) {
    if (FENCE.test(line)) within = !within
    // What stands above and below code are two paragraphs.
    prose.push(within || FENCE.test(line) ? '' : line)
  }
  return prose.join('\n')
}

/** As people would quote them: without the marks of Markdown, headings aside. */
function sentencesOf(text: string): Quotable[] {
  const segmenter = new Intl.Segmenter(undefined, { granularity: 'sentence' })
  return text
    .split(/\n\s*\n|\n(?=\s*(?:[-*+]|\d+\.|#{1,6}|\|)\s)/)
    .filter((paragraph) => !/^\s*(#{1,6}\s|\|?\s*:?-{3,})/.test(paragraph))
    .map((paragraph) =>
      paragraph
        .replace(/^\s*(?:[-*+>]|\d+\.)\s+/, '')
        .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
        .replaceAll(/[*_`]{1,3}(\S(?:.*?\S)?)[*_`]{1,3}/g, '$1')
        .replaceAll(/\s+/g, ' ')
        .trim(),
    )
    .flatMap((paragraph) => [...segmenter.segment(paragraph)].map(({ segment }): Quotable => ({ text: segment.trim(), row: segment.startsWith('|') })))
}
