/** Collects the page breaks of a document. */
import type { ParsedDocument } from './parsed-document.ts'

/** Word marks where pages started when it last saved the document (rendered). Other programs only store the breaks of the author. */
export type PageBreak = 'rendered' | 'manual'

export class PageTracker {
  readonly #starts: Record<PageBreak, number[]> = { rendered: [], manual: [] }

  /** Adds a page that starts at an offset of the text, or after the whitespace there. */
  add(kind: PageBreak, start: number): void {
    this.#starts[kind].push(start)
  }

  /** Manual breaks only count without rendered ones, which include them. */
  listPages(text: string): ParsedDocument['pages'] {
    const { rendered, manual } = this.#starts
    const pages: ParsedDocument['pages'] = []
    let number = 1
    for (const offset of rendered.length > 0 ? rendered : manual) {
      let start = offset
      while (/^\s/.test(text.charAt(start))) start++
      if (start >= text.length) break
      if (pages.length === 0) pages.push({ number, start: 0 })
      number++
      // An empty page: only the last page that starts here has text.
      if (pages.at(-1)?.start === start) pages.pop()
      pages.push({ number, start })
    }
    return pages
  }
}
