/** Reads PowerPoint presentations: the slides in order, with their tables and notes. */
import { DocumentWriter } from '../document-writer.ts'
import { describeUnreadParts, findAttribute, findMainPart, findTitle, listRelationships } from '../open-package.ts'
import { cleanText, DocumentReadError, type ParsedDocument } from '../parsed-document.ts'
import { walkMarkup } from '../walk-markup.ts'
import type { ZipArchive } from '../zip-archive.ts'
import { findTitleShape, SlideList } from './slide-list.ts'

const UNREAD_PARTS: [RegExp, string][] = [
  [/\/vbaProject\.bin$/, 'macros'],
  [/\/charts\//, 'charts'],
  [/\/diagrams\/data/, 'diagrams'],
  [/\/media\/.*\.(?:mp3|mp4|m4a|m4v|mov|wav|wmv)$/i, 'sound and video'],
  [/\/media\/.*\.(?:png|jpe?g|gif|emf|wmf|tiff?|bmp|svg)$/i, 'images'],
]
const MAX_SLIDES = 10_000
/** Placeholders that repeat on every slide. */
const REPEATED_PLACEHOLDERS = new Set(['sldNum', 'dt', 'ftr', 'hdr', 'sldImg'])

export function readPptx(archive: ZipArchive): ParsedDocument {
  const main = findMainPart(archive, 'ppt/presentation.xml')
  if (main === undefined) throw new DocumentReadError('The presentation is damaged: its main part is missing.')
  const slideParts = listSlides(archive, main)
  if (slideParts.length === 0) throw new DocumentReadError('The presentation has no slides.')
  const writer = new DocumentWriter()
  const slides = new SlideList(writer)
  for (const part of slideParts) {
    const shapes = readShapes(archive.readText(part))
    const title = findTitleShape(shapes)
    slides.startSlide(title?.paragraphs.map(({ text }) => text).join(' ') ?? '')
    for (const shape of shapes) if (shape !== title) writeShape(writer, shape)
    const notesPart = listRelationships(archive, part).find(({ type }) => type === 'notesSlide')?.target
    const notes = notesPart === undefined ? [] : readShapes(archive.readText(notesPart)).filter(({ paragraphs }) => paragraphs.length > 0)
    if (notes.length > 0) slides.startNotes()
    for (const { paragraphs } of notes) for (const { text } of paragraphs) writer.writeParagraph(text)
  }
  return slides.finish(findTitle(archive), describeUnreadParts(archive.names, UNREAD_PARTS))
}

function listSlides(archive: ZipArchive, main: string): string[] {
  const targets = new Map(listRelationships(archive, main).map(({ id, type, target }) => [id, type === 'slide' ? target : undefined]))
  const slides: string[] = []
  walkMarkup(archive.readText(main), 'office', {
    open(tag, attributes) {
      if (tag !== 'sldId') return
      const target = targets.get(/\s[\w.-]+:id=["']([^"']+)/.exec(attributes)?.[1] ?? '')
      if (target !== undefined) slides.push(target)
    },
  })
  if (slides.length > MAX_SLIDES) throw new DocumentReadError(`The presentation has ${slides.length} slides; the maximum is ${MAX_SLIDES}.`)
  return slides
}

interface SlideParagraph {
  text: string
  level: number
  bullet: 'none' | 'bullet' | 'number' | undefined
}

interface Shape {
  isTitle: boolean
  /** Whether its paragraphs have bullets unless they say otherwise. */
  isBody: boolean
  paragraphs: SlideParagraph[]
  rows: string[][]
}

function writeShape(writer: DocumentWriter, { isBody, paragraphs, rows }: Shape): void {
  if (rows.length > 0) writer.writeTable(rows)
  for (const { text, level, bullet } of paragraphs) {
    const isListed = bullet === undefined ? isBody && paragraphs.length > 1 : bullet !== 'none'
    writer.writeParagraph(text, { list: isListed ? { level, isNumbered: bullet === 'number' } : undefined })
  }
}

function readShapes(xml: string): Shape[] {
  const reader = new ShapeReader()
  walkMarkup(xml, 'office', reader)
  return reader.shapes
}

/** Handles the tags of a slide or its notes. */
class ShapeReader {
  readonly shapes: Shape[] = []
  readonly skipped = new Set(['Fallback'])
  #shape: Shape = createShape()
  #isRepeated = false
  #paragraph: (SlideParagraph & { parts: string[] }) | undefined
  #row: string[] | undefined
  #cell: string[] | undefined
  #inText = false

  open(tag: string, attributes: string, isSelfClosing: boolean): void {
    const read = (attribute: string) => findAttribute(attributes, attribute) ?? ''
    if (tag === 'sp' || tag === 'graphicFrame') this.#startShape()
    else if (tag === 'ph') this.#readPlaceholder(read('type'))
    else if (tag === 'p' && !isSelfClosing) this.#paragraph = { text: '', parts: [], level: 0, bullet: undefined }
    else if (tag === 'tr') this.#row = []
    else if (tag === 'tc') this.#cell = []
    else if (tag === 't') this.#inText = !isSelfClosing
    else if (tag === 'br') this.#paragraph?.parts.push('\n')
    else if (this.#paragraph) this.#readParagraphProperty(this.#paragraph, tag, read)
  }

  close(tag: string): void {
    if (tag === 't') this.#inText = false
    else if (tag === 'p') this.#endParagraph()
    else if (tag === 'tc') {
      this.#row?.push(this.#cell?.join('\n') ?? '')
      this.#cell = undefined
    } else if (tag === 'tr') {
      if (this.#row?.some((cell) => cell !== '')) this.#shape.rows.push(this.#row)
      this.#row = undefined
    }
  }

  text(text: string): void {
    if (this.#inText) this.#paragraph?.parts.push(cleanText(text))
  }

  #startShape(): void {
    this.#shape = createShape()
    this.#isRepeated = false
    this.shapes.push(this.#shape)
  }

  #readPlaceholder(type: string): void {
    this.#shape.isTitle = type === 'title' || type === 'ctrTitle'
    this.#shape.isBody = ['', 'body', 'obj'].includes(type)
    this.#isRepeated = REPEATED_PLACEHOLDERS.has(type)
  }

  #readParagraphProperty(paragraph: SlideParagraph, tag: string, read: (attribute: string) => string): void {
    if (tag === 'pPr') paragraph.level = Math.min(Number(read('lvl')) || 0, 8)
    else if (tag === 'buNone') paragraph.bullet = 'none'
    else if (tag === 'buChar' || tag === 'buBlip') paragraph.bullet = 'bullet'
    else if (tag === 'buAutoNum') paragraph.bullet = 'number'
  }

  #endParagraph(): void {
    const paragraph = this.#paragraph
    this.#paragraph = undefined
    const text = paragraph?.parts.join('').trim() ?? ''
    if (!paragraph || text === '' || this.#isRepeated) return
    if (this.#cell) this.#cell.push(text)
    else this.#shape.paragraphs.push({ ...paragraph, text })
  }
}

const createShape = (): Shape => ({ isTitle: false, isBody: false, paragraphs: [], rows: [] })
