/** Labels citations that are alone on a line, as below a quoted table or code. */

const CITATIONS = /^\s*\[\d{1,3}\]((?:\s*\[\d{1,3}\])*)\s*$/

/** Returns the words to show before the text, which is empty unless the text consists of citations. */
export function labelCitations(text: string): string {
  const [, others] = CITATIONS.exec(text) ?? []
  if (others === undefined) return ''
  return others === '' ? 'Source: ' : 'Sources: '
}
