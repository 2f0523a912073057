/** Joins the lines of PDF pages to paragraphs, finds headings by their size, and leaves out what every page repeats. */
import type { Line, PdfPage } from './lines.ts'

export interface LayoutProfile {
  /** Size of the running text. */
  body: number
  /** Sizes of headings, largest first. */
  headings: number[]
  /** Lines that stand at the edge of most pages: headers and footers, with their numbers taken out. */
  repeated: Set<string>
  /** Usual distance from a line to the next, as a multiple of the text's size. */
  leading: number
}

const MAX_HEADING_LENGTH = 150
const roundSize = (size: number) => Math.round(size * 2) / 2
/** Headers and footers differ only in the number of the page. */
const maskNumbers = (text: string) => text.replaceAll(/\d+/g, '#').trim()

export function measureLayout(pages: readonly PdfPage[]): LayoutProfile {
  const characters = new Map<number, number>()
  const gaps = new Map<number, number>()
  for (const { lines } of pages) {
    for (const [index, { text, size, y }] of lines.entries()) {
      characters.set(roundSize(size), (characters.get(roundSize(size)) ?? 0) + text.length)
      const next = lines[index + 1]
      const gap = next && size > 0 && roundSize(next.size) === roundSize(size) ? Math.round(((y - next.y) / size) * 10) / 10 : 0
      if (gap > 0.8 && gap < 2.6) gaps.set(gap, (gaps.get(gap) ?? 0) + 1)
    }
  }
  const body = findMostFrequent(characters) ?? 10
  const headings = [...characters].filter(([size]) => size >= body * 1.15).map(([size]) => size)
  return {
    body,
    headings: headings.sort((a, b) => b - a).slice(0, 4),
    repeated: findRepeatedLines(pages),
    leading: findMostFrequent(gaps) ?? 1.2,
  }
}

function findMostFrequent(counts: Map<number, number>): number | undefined {
  let best: [number, number] | undefined
  for (const [key, count] of counts) if (!best || count > best[1]) best = [key, count]
  return best?.[0]
}

function findRepeatedLines(pages: readonly PdfPage[]): Set<string> {
  const written = pages.filter(({ lines }) => lines.length > 2)
  if (written.length < 3) return new Set()
  const counts = new Map<string, number>()
  for (const page of written) {
    const edges = new Set(page.lines.filter((line) => isAtEdge(line, page)).map(({ text }) => maskNumbers(text)))
    for (const edge of edges) counts.set(edge, (counts.get(edge) ?? 0) + 1)
  }
  return new Set(
    [...counts]
      .filter(([text, count]) => count >= Math.max(3, written.length * 0.5) && text.length <= MAX_HEADING_LENGTH)
      .map(([text]) => text),
  )
}

/** Whether a line stands in the tenth of a page at its top or its bottom. */
function isAtEdge({ y }: Line, { top, bottom }: PdfPage): boolean {
  const tenth = (top - bottom) / 10
  return y > top - tenth || y < bottom + tenth
}

export class PageWriter {
  readonly pages: { number: number; start: number }[] = []
  firstHeading: string | null = null
  readonly #profile: LayoutProfile
  readonly #out: string[] = []
  #length = 0

  constructor(profile: LayoutProfile) {
    this.#profile = profile
  }

  get text(): string {
    return this.#out.join('')
  }

  writePage(number: number, page: PdfPage): void {
    const { repeated } = this.#profile
    const lines = page.lines.filter((line) => !(repeated.size > 0 && isAtEdge(line, page) && repeated.has(maskNumbers(line.text))))
    this.pages.push({ number, start: this.#length + (this.#length > 0 ? 2 : 0) })
    for (let at = 0; at < lines.length; ) {
      const level = this.#getHeadingLevel(lines[at])
      let end = at + 1
      while (
        end < lines.length &&
        this.#getHeadingLevel(lines[end]) === level &&
        !this.#startsParagraph(lines[end - 1] as Line, lines[end] as Line, lines[at] as Line, level)
      )
        end++
      this.#writeBlock(joinLines(lines.slice(at, end)), level)
      at = end
    }
  }

  #writeBlock(text: string, level: number): void {
    const block = level > 0 ? `${'#'.repeat(level)} ${text}` : text
    if (level > 0) this.firstHeading ??= text
    const gap = this.#length > 0 ? '\n\n' : ''
    this.#out.push(gap, block)
    this.#length += gap.length + block.length
  }

  /** The level of a heading, or 0. */
  #getHeadingLevel(line: Line | undefined): number {
    if (!line || line.text.length > MAX_HEADING_LENGTH || !/\p{L}{2}/u.test(line.text)) return 0
    return this.#profile.headings.indexOf(roundSize(line.size)) + 1
  }

  /** Whether a new paragraph starts between two lines. */
  #startsParagraph(line: Line, next: Line, first: Line, level: number): boolean {
    const size = Math.max(line.size, 1)
    const gap = (line.y - next.y) / size
    // Up the page: the next column, or something set beside the text.
    if (gap < -1) return level > 0 || /[.!?:”"]$/.test(line.text)
    if (gap > Math.max(this.#profile.leading * 1.25, this.#profile.leading + 0.25)) return true
    if (level > 0) return gap > 2
    if (/^(?:[•●▪◦‣–*-]|\(?\d{1,3}[.)]|\(?[a-z][.)])\s/.test(next.text)) return true
    // An indented line after one that ends a sentence starts a paragraph, and so does any line after one that ends early.
    const indent = (next.x - Math.min(line.x, first.x)) / size
    if (indent > 0.8 && indent < 6 && /[.!?:”"]$/.test(line.text) && line.x <= next.x - size * 0.8) return true
    return Math.abs(next.size - line.size) > size * 0.15
  }
}

/** Lines as one text; a word divided at the end of a line is put together again. */
function joinLines(lines: readonly Line[]): string {
  let text = ''
  const parts: string[] = []
  for (const line of lines) {
    if (text === '') text = line.text
    else if (/\p{Ll}[-\u00ad\u2010]$/u.test(text) && /^\p{Ll}/u.test(line.text)) text = text.slice(0, -1) + line.text
    else {
      parts.push(text, isUnspaced(text, line.text) ? '' : ' ')
      text = line.text
    }
  }
  return parts.join('') + text
}

/** Chinese and Japanese have no spaces between words, so none between lines. */
function isUnspaced(before: string, after: string): boolean {
  return /[\u3000-\u30ff\u3400-\u9fff\uff00-\uff60]$/.test(before) && /^[\u3000-\u30ff\u3400-\u9fff\uff00-\uff60]/.test(after)
}
