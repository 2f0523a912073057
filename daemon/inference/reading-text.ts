/** Composes the text of a passage as the reading model was trained to read it. */

/** As in training/data.py. */
const HEADING_SEPARATOR = ' › '

interface ReadingText {
  text: string
  /** Position of the passage, after its headings. */
  contentStart: number
}

/** Returns the headings that the passage itself does not contain, and the passage below them. */
export function composeReadingText(headings: readonly string[], content: string): ReadingText {
  const above = headings.filter((heading) => heading !== '' && !content.includes(heading)).join(HEADING_SEPARATOR)
  return above === '' ? { text: content, contentStart: 0 } : { text: `${above}\n${content}`, contentStart: above.length + 1 }
}
