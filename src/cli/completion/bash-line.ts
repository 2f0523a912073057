/** Splits a command line as bash does, and quotes words for it. */

export interface BashLine {
  /** The complete words, without quotes. */
  words: string[]
  /** The word at the cursor, without quotes. */
  current: string
  /** The quote that is open at the cursor. */
  quote: '' | '"' | "'"
  /** The start of the current word that bash keeps, because one of its word breaks follows. */
  kept: string
}

/** @param breaks characters at which bash also splits words, such as = and : */
export function parseBashLine(line: string, breaks: string): BashLine {
  const words: string[] = []
  let current = ''
  let kept = ''
  let quote: BashLine['quote'] = ''
  let isWord = false
  for (let at = 0; at < line.length; at++) {
    const character = line[at] as string
    if (quote === '' && /\s/.test(character)) {
      if (isWord) words.push(current)
      current = kept = ''
      isWord = false
      continue
    }
    isWord = true
    if (quote === '' && (character === '"' || character === "'")) quote = character
    else if (quote !== '' && character === quote) quote = ''
    else if (character === '\\' && quote !== "'" && at + 1 < line.length) current += line[++at]
    else {
      current += character
      if (quote === '' && breaks.includes(character)) kept = current
    }
  }
  return { words, current, quote, kept }
}

export function quoteForBash(text: string, quote: BashLine['quote']): string {
  if (quote === "'") return text.replaceAll("'", "'\\''")
  if (quote === '"') return text.replaceAll(/["$`\\]/g, '\\$&')
  return text.replaceAll(/[^\p{L}\p{M}\p{N}_.,:@%+=/-]/gu, '\\$&')
}
