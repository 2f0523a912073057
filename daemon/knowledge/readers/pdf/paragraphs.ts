/** Joins the lines of PDF pages to paragraphs, finds headings by font size and removes repeated headers and footers. */
import type { ParsedDocument } from '../parsed-document.ts'
import type { Line, PdfPage } from './lines.ts'

interface LayoutProfile {
  /** Font size of body text. */
  body: number
  /** Font sizes of headings, largest first. */
  headings: number[]
  /** Headers and footers, with numbers masked. */
  repeated: Set<string>
  /** Usual distance between lines, as a multiple of the font size. */
  leading: number
}

const MAX_HEADING_LENGTH = 150
const roundSize = (size: number) => Math.round(size * 2) / 2
/** Headers and footers differ only in page numbers. */
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
  const textPages = pages.filter(({ lines }) => lines.length > 2)
  if (textPages.length < 3) return new Set()
  const counts = new Map<string, number>()
  for (const page of textPages) {
    const edges = new Set(page.lines.filter((line) => isAtEdge(line, page)).map(({ text }) => maskNumbers(text)))
    for (const edge of edges) counts.set(edge, (counts.get(edge) ?? 0) + 1)
  }
  return new Set(
    [...counts]
      .filter(([text, count]) => count >= Math.max(3, textPages.length * 0.5) && text.length <= MAX_HEADING_LENGTH)
      .map(([text]) => text),
  )
}

/** Whether a line is in the top or bottom tenth of the page. */
function isAtEdge({ y }: Line, { top, bottom }: PdfPage): boolean {
  const tenth = (top - bottom) / 10
  return y > top - tenth || y < bottom + tenth
}

export class PageWriter {
  readonly pages: ParsedDocument['pages'] = []
  firstHeading: string | null = null
  readonly #profile: LayoutProfile
  readonly #output: string[] = []
  #length = 0

  constructor(profile: LayoutProfile) {
    this.#profile = profile
  }

  get text(): string {
    return this.#output.join('')
  }

  /** @param recognized the text of a scanned page */
  writePage(number: number, page: PdfPage, recognized = ''): void {
    const { repeated } = this.#profile
    const lines = page.lines.filter((line) => !(repeated.size > 0 && isAtEdge(line, page) && repeated.has(maskNumbers(line.text))))
    this.pages.push({ number, start: this.#length + (this.#length > 0 ? 2 : 0) })
    if (recognized !== '') this.#writeBlock(recognized, 0)
    for (let start = 0; start < lines.length; ) {
      const level = this.#getHeadingLevel(lines[start])
      let end = start + 1
      while (
        end < lines.length &&
        this.#getHeadingLevel(lines[end]) === level &&
        !this.#startsParagraph(lines[end - 1] as Line, lines[end] as Line, lines[start] as Line, level)
      )
        end++
      this.#writeBlock(joinLines(lines.slice(start, end)), level)
      start = end
    }
  }

  #writeBlock(text: string, level: number): void {
    const block = level > 0 ? `${'#'.repeat(level)} ${text}` : text
    if (level > 0) this.firstHeading ??= text
    const gap = this.#length > 0 ? '\n\n' : ''
    this.#output.push(gap, block)
    this.#length += gap.length + block.length
  }

  /** Returns 0 for body text. */
  #getHeadingLevel(line: Line | undefined): number {
    if (!line || line.text.length > MAX_HEADING_LENGTH || !/\p{L}{2}/u.test(line.text)) return 0
    return this.#profile.headings.indexOf(roundSize(line.size)) + 1
  }

  #startsParagraph(line: Line, next: Line, first: Line, level: number): boolean {
    const size = Math.max(line.size, 1)
    const gap = (line.y - next.y) / size
    // Further up: the next column, or a sidebar.
    if (gap < -1) return level > 0 || /[.!?:”"]$/.test(line.text)
    if (gap > Math.max(this.#profile.leading * 1.25, this.#profile.leading + 0.25)) return true
    if (level > 0) return gap > 2
    if (/^(?:[•●▪◦‣–*-]|\(?\d{1,3}[.)]|\(?[a-z][.)])\s/.test(next.text)) return true
    // An indented line after the end of a sentence starts a paragraph.
    const indent = (next.x - Math.min(line.x, first.x)) / size
    if (indent > 0.8 && indent < 6 && /[.!?:”"]$/.test(line.text) && line.x <= next.x - size * 0.8) return true
    return Math.abs(next.size - line.size) > size * 0.15
  }
}

/** Joins lines and removes hyphenation. */
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

/** Chinese and Japanese have no spaces between words. */
function isUnspaced(before: string, after: string): boolean {
  return /[\u3000-\u30ff\u3400-\u9fff\uff00-\uff60]$/.test(before) && /^[\u3000-\u30ff\u3400-\u9fff\uff00-\uff60]/.test(after)
}
