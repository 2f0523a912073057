/** Finds numbers, names and codes of a question, which tell one record of a table from another. */

/** `7.10`, `BW-101`, `2026-10-15`, `2,500`. */
const TOKEN = /[\p{L}\p{N}]+(?:(?:[-._/:@]|(?<=\d),(?=\d))[\p{L}\p{N}]+)*/gu
const MAX_IDENTIFIERS = 10

/** Words in capitals at the beginning of a sentence are no names. */
export function findIdentifiers(question: string): string[] {
  const tokens = [...question.matchAll(TOKEN)]
  const found = tokens.flatMap(({ 0: token, index }, position) => {
    const previous = tokens[position - 1]
    const isFirst = previous === undefined || /[.!?:]\s+$/.test(question.slice(previous.index + previous[0].length, index))
    const isName = /^\p{Lu}/u.test(token) && !isFirst && token.length > 1
    return /\d|_|\p{Ll}\p{Lu}/u.test(token) || isName ? [token.toLowerCase()] : []
  })
  return [...new Set(found)].slice(0, MAX_IDENTIFIERS)
}

/**
 * `7.10` contains neither `10` nor `7.1`, but `2026-10-15` contains the year, `2023-Feb-16` the month, `3.0.0` and `3.x` the major
 * version.
 */
export function containsIdentifier(text: string, identifier: string): boolean {
  const lower = text.toLowerCase()
  const isShown = (form: string) => containsForm(lower, form)
  return isShown(identifier) || (MONTHS.test(identifier) && isShown(identifier.slice(0, 3))) || containsMajorVersion(lower, identifier)
}

const MONTHS = /^(?:january|february|march|april|june|july|august|september|october|november|december)$/

const containsMajorVersion = (text: string, identifier: string): boolean =>
  /^\d{1,3}$/.test(identifier) &&
  new RegExp(`(?<![\\p{L}\\p{N}.,-])v?${identifier}\\.(?:x(?![\\p{L}\\p{N}])|(?:0|[1-9]\\d?)\\.(?:0|[1-9]\\d?|x)(?![\\p{N}.]))`, 'u').test(
    text,
  )

function containsForm(lower: string, identifier: string): boolean {
  const isJoined = /^(?:19|20)\d\d$/.test(identifier) || !/\d/.test(identifier) ? /^[\p{L}\p{N}]/u : /^[-.,]?[\p{L}\p{N}]/u
  for (let at = lower.indexOf(identifier); at >= 0; at = lower.indexOf(identifier, at + 1)) {
    const end = at + identifier.length
    const before = [...lower.slice(Math.max(0, at - 2), at)].reverse().join('')
    if (!isJoined.test(before) && !isJoined.test(lower.slice(end, end + 2))) return true
  }
  return false
}
