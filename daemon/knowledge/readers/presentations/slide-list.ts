/** Collects the slides of a presentation, with the place of each in the text. */
import type { DocumentWriter } from '../document-writer.ts'
import { cleanText, type ParsedDocument } from '../parsed-document.ts'

const MAX_TITLE_LENGTH = 100

/** A slide without a title placeholder often starts with a short text that serves as one. */
export function findTitleShape<T extends { isTitle: boolean; paragraphs: readonly { text: string }[] }>(
  shapes: readonly T[],
): T | undefined {
  const first = shapes.find(({ paragraphs }) => paragraphs.length > 0)
  const isShort = first?.paragraphs.length === 1 && (first.paragraphs[0]?.text.length ?? 0) <= MAX_TITLE_LENGTH
  return shapes.find(({ isTitle, paragraphs }) => isTitle && paragraphs.length > 0) ?? (isShort ? first : undefined)
}

export class SlideList {
  readonly #writer: DocumentWriter
  readonly #slides: { number: number; start: number }[] = []
  #count = 0
  #firstTitle: string | null = null

  constructor(writer: DocumentWriter) {
    this.#writer = writer
  }

  /** Every slide has a heading, so that its text does not belong to the slide before. */
  startSlide(title: string): void {
    this.#slides.push({ number: ++this.#count, start: this.#writer.length })
    this.#writer.writeParagraph(cleanText(title) || `Slide ${this.#count}`, { heading: 2 })
    if (title !== '') this.#firstTitle ??= title
  }

  startNotes(): void {
    this.#writer.writeParagraph('Speaker notes', { heading: 3 })
  }

  finish(title: string | null, notice: string | undefined): ParsedDocument {
    const text = cleanText(this.#writer.finish())
    // Slides start after the empty line between blocks.
    const pages = this.#slides.map(({ number, start }) => ({ number, start: start === 0 ? 0 : start + 2 }))
    return { text, format: 'markdown', pages, places: { kind: 'slide' }, title: title ?? this.#firstTitle, notice }
  }
}
