/** Takes rows of separated values apart, quoted ones included, in one pass and without ever refusing a line. */

/** The rows that have anything in them; cells come without the spaces around them. */
export function parseRows(source: string, delimiter: string): string[][] {
  const rows: string[][] = []
  const places = { delimiter: new Place(source, delimiter), newline: new Place(source, '\n'), quote: new Place(source, '"') }
  let row: string[] = []
  for (let at = 0; at <= source.length; ) {
    const { text, end } = cellAt(source, at, places)
    row.push(text.trim())
    at = end + 1
    if (end < source.length && source[end] === delimiter) continue
    if (row.some((cell) => cell !== '')) rows.push(row)
    row = []
  }
  return rows
}

/** The next place of a character, remembered while one is before it, so that looking for it everywhere costs one pass. */
class Place {
  readonly #source: string
  readonly #character: string
  #known = -1

  constructor(source: string, character: string) {
    this.#source = source
    this.#character = character
  }

  from(at: number): number {
    if (this.#known < at) {
      const found = this.#source.indexOf(this.#character, at)
      this.#known = found < 0 ? Number.POSITIVE_INFINITY : found
    }
    return this.#known
  }
}

function cellAt(
  source: string,
  start: number,
  { delimiter, newline, quote }: Record<'delimiter' | 'newline' | 'quote', Place>,
): { text: string; end: number } {
  const ends = (from: number) => Math.min(delimiter.from(from), newline.from(from), source.length)
  let open = start
  while (source[open] === ' ') open++
  if (source[open] !== '"') return { text: source.slice(start, ends(start)), end: ends(start) }
  const parts: string[] = []
  for (let from = open + 1; ; ) {
    const close = quote.from(from)
    // A quote that is never closed is a character like any other.
    if (close === Number.POSITIVE_INFINITY) return { text: source.slice(start, ends(start)), end: ends(start) }
    parts.push(source.slice(from, close))
    if (source[close + 1] !== '"') {
      const end = ends(close + 1)
      return { text: parts.join('"') + source.slice(close + 1, end), end }
    }
    from = close + 2
  }
}
