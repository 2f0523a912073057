/** Limits the results of tools that models read. */

const MAX_RESULT_LENGTH = 20_000

/** A longer value becomes the beginning of its text, with a note. */
export function truncateValue(value: unknown): unknown {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  if (text.length <= MAX_RESULT_LENGTH) return value
  // Providers and the database reject half of a surrogate pair.
  const beginning = text.slice(0, MAX_RESULT_LENGTH).replace(/[\uD800-\uDBFF]$/, '')
  return `${beginning}\n[Cut after ${MAX_RESULT_LENGTH} of ${text.length} characters.]`
}
