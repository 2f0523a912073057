/** Tells questions from names, for errors about arguments in the wrong place. */

const MIN_WORDS = 4

/** Whether a text is more likely a question than the name of a tool or the title of a conversation. */
export function looksLikeQuestion(text: string): boolean {
  return /[?？]\s*$/.test(text) || text.trim().split(/\s+/).length >= MIN_WORDS
}
