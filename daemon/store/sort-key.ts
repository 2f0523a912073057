/** Creates the keys by which names are sorted. */

/** Letters that Unicode does not decompose into a base letter and a mark. */
const BASE_LETTERS: Readonly<Record<string, string>> = { æ: 'ae', ð: 'd', đ: 'd', ı: 'i', ł: 'l', ø: 'o', œ: 'oe', þ: 'th' }
const BASE_LETTER = new RegExp(`[${Object.keys(BASE_LETTERS).join('')}]`, 'g')
const ACCENTS = /[\u0300-\u036f]/g

/**
 * Returns a text whose order by code points is the order people expect of names: case and accents are ignored, and numbers are
 * compared by their value. Stored keys depend on the result: a change needs a migration that computes them again.
 */
export function createSortKey(name: string): string {
  return (
    name
      .normalize('NFKD')
      .replaceAll(ACCENTS, '')
      // Upper case first: it expands letters such as ß.
      .toUpperCase()
      .toLowerCase()
      .replaceAll(BASE_LETTER, (letter) => BASE_LETTERS[letter] as string)
      .replaceAll(/0*(\d+)/g, (_, digits: string) => `${String(digits.length).padStart(4, '0')}${digits}`)
  )
}
