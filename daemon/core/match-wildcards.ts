/** Matches patterns in which a star stands for any text. */

/** From left to right: a pattern from outside could make a regular expression backtrack for a very long time. */
export function matchesWildcards(pattern: string, text: string): boolean {
  const [first = '', ...parts] = pattern.split('*')
  const last = parts.pop()
  if (last === undefined) return text === pattern
  if (!text.startsWith(first)) return false
  let position = first.length
  for (const part of parts) {
    const index = text.indexOf(part, position)
    if (index < 0) return false
    position = index + part.length
  }
  return text.length >= position + last.length && text.endsWith(last)
}
