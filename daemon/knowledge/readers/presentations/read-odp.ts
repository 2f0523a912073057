/** Reads OpenDocument presentations: the slides in order, with their notes. */
import { describeUnreadObjects, findOpenDocumentTitle, readStyles } from '../opendocument/parts.ts'
import { SKIPPED_ELEMENTS, TextConverter } from '../opendocument/read-odt.ts'
import { DocumentReadError, type ParsedDocument } from '../parsed-document.ts'
import { parseAttributes, walkMarkup } from '../walk-markup.ts'
import type { ZipArchive } from '../zip-archive.ts'
import { findTitleShape, SlideList } from './slide-list.ts'

/** Placeholders that repeat on every slide. */
const REPEATED_CLASSES = new Set(['page-number', 'date-time', 'footer', 'header'])
const SHAPES = new Set(['draw:frame', 'draw:custom-shape'])

export function readOdp(archive: ZipArchive): ParsedDocument {
  const content = archive.readText('content.xml')
  const [before = '', ...pages] = content.split('<draw:page ')
  if (pages.length === 0) throw new DocumentReadError('The presentation has no slides.')
  const converter = new TextConverter(readStyles(before, readStyles(archive.readText('styles.xml'))))
  const slides = new SlideList(converter.writer)
  for (const page of pages) readSlide(`<draw:page ${page}`, converter, slides)
  return slides.finish(findOpenDocumentTitle(archive), describeUnreadObjects(archive))
}

function readSlide(xml: string, converter: TextConverter, slides: SlideList): void {
  const shapes = listShapes(xml)
  const title = findTitleShape(shapes)
  slides.startSlide(title?.paragraphs.map(({ text }) => text).join(' ') ?? '')
  let [shape, inNotes, isFirstNote] = [-1, false, false]
  walkMarkup(xml, 'xml', {
    skipped: SKIPPED_ELEMENTS,
    open(name, attributes, isSelfClosing) {
      if (name === 'presentation:notes') [inNotes, isFirstNote] = [!isSelfClosing, true]
      else if (SHAPES.has(name)) {
        shape++
        const kind = parseAttributes(attributes).get('presentation:class') ?? ''
        converter.isSkipping = REPEATED_CLASSES.has(kind) || (title !== undefined && shapes[shape] === title)
      } else if (inNotes && isFirstNote && name === 'text:p' && !isSelfClosing) {
        isFirstNote = false
        slides.startNotes()
      }
      converter.open(name, attributes, isSelfClosing)
    },
    close(name) {
      converter.close(name)
      if (name === 'presentation:notes') inNotes = false
      else if (SHAPES.has(name)) converter.isSkipping = false
    },
    text: (text) => converter.text(text),
  })
}

interface Shape {
  isTitle: boolean
  /** Those outside of lists and tables. */
  paragraphs: { text: string }[]
}

/** Lists the shapes of a slide in order. Lists, tables and notes count as more than one paragraph. */
function listShapes(xml: string): Shape[] {
  const shapes: Shape[] = []
  let parts: string[] | undefined
  walkMarkup(xml, 'xml', {
    skipped: SKIPPED_ELEMENTS,
    open(name, attributes, isSelfClosing) {
      if (SHAPES.has(name)) shapes.push({ isTitle: parseAttributes(attributes).get('presentation:class') === 'title', paragraphs: [] })
      else if (name === 'text:list' || name === 'table:table' || name === 'presentation:notes')
        shapes.at(-1)?.paragraphs.push({ text: '' }, { text: '' })
      else if (name === 'text:p' && !isSelfClosing) parts = []
    },
    close(name) {
      if (name !== 'text:p') return
      const text = parts?.join('').replaceAll(/\s+/g, ' ').trim() ?? ''
      if (text !== '') shapes.at(-1)?.paragraphs.push({ text })
      parts = undefined
    },
    text: (text) => void parts?.push(text),
  })
  return shapes
}
