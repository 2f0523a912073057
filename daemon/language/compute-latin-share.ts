/** Computes how much of a text is in the Latin script. */

/** Returns the share of Latin letters among all letters, and 1 for a text without letters. */
export function computeLatinShare(text: string): number {
  const letters = text.match(/\p{L}/gu)?.length ?? 0
  return letters === 0 ? 1 : (text.match(/\p{Script=Latin}/gu)?.length ?? 0) / letters
}
