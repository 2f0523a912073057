/** Reads the styles, numberings and notes of a Word document. */
import { findAttribute } from '../open-package.ts'
import { walkMarkup } from '../walk-markup.ts'

export interface Numbering {
  id: string
  level: number
}

export interface Style {
  /** Heading level of paragraphs with this style. */
  heading: number | undefined
  numbering: Numbering | undefined
}

interface DeclaredStyle extends Style {
  base: string | undefined
}

const MAX_STYLE_DEPTH = 10

/** Whether a property is on; without a value it is. */
export const isOn = (value: string): boolean => !['0', 'false', 'off'].includes(value)

export function readStyles(xml: string): Map<string, Style> {
  const styles = new Map<string, DeclaredStyle>()
  let style: DeclaredStyle | undefined
  walkMarkup(xml, 'office', {
    open(tag, attributes) {
      const value = () => findAttribute(attributes, 'val') ?? ''
      if (tag === 'style') {
        style = { heading: undefined, numbering: undefined, base: undefined }
        styles.set(findAttribute(attributes, 'styleId') ?? '', style)
      } else if (!style) return
      else if (tag === 'name') style.heading ??= parseHeadingName(value())
      else if (tag === 'basedOn') style.base = value()
      else if (tag === 'outlineLvl') style.heading ??= parseOutlineLevel(value())
      else if (tag === 'numId') style.numbering = { id: value(), level: style.numbering?.level ?? 0 }
      else if (tag === 'ilvl') style.numbering = { id: style.numbering?.id ?? '', level: Number(value()) || 0 }
    },
    close(tag) {
      if (tag === 'style') style = undefined
    },
  })
  return new Map([...styles].map(([id, style]) => [id, resolveStyle(style, styles)]))
}

/** Whether a paragraph of the document has a heading style or an outline level. */
export function hasStyledHeadings(xml: string, styles: Map<string, Style>): boolean {
  if (/<\w{1,9}:outlineLvl\s/.test(xml)) return true
  for (const [, id = ''] of xml.matchAll(/:pStyle\s+\w{1,9}:val="([^"]{1,200})"/g))
    if (getStyle(styles, id)?.heading !== undefined) return true
  return false
}

/** A document without style definitions still names the built-in heading styles. */
export function getStyle(styles: Map<string, Style>, id: string): Style | undefined {
  const level = /^Heading([1-6])$/.exec(id)?.[1]
  return styles.get(id) ?? (level === undefined ? undefined : { heading: Number(level), numbering: undefined })
}

function resolveStyle(style: DeclaredStyle, styles: Map<string, DeclaredStyle>): Style {
  let { heading, numbering } = style
  let base = style.base === undefined ? undefined : styles.get(style.base)
  // Bounded: styles may be based on each other in a cycle.
  for (let depth = 0; base && depth < MAX_STYLE_DEPTH; depth++) {
    heading ??= base.heading
    numbering ??= base.numbering
    base = base.base === undefined ? undefined : styles.get(base.base)
  }
  return { heading, numbering }
}

function parseHeadingName(name: string): number | undefined {
  const level = /^heading (\d)$/i.exec(name)?.[1]
  return level ? Number(level) : /^title$/i.test(name) ? 1 : undefined
}

/** Outline levels start at 0; level 9 is body text. */
export function parseOutlineLevel(value: string): number | undefined {
  const level = Number(value)
  return value !== '' && level >= 0 && level <= 5 ? level + 1 : undefined
}

/** Returns a predicate for list levels with numbers instead of bullets. */
export function readNumbering(xml: string): (numbering: Numbering) => boolean {
  const abstracts = new Map<string, Map<number, string>>()
  const abstractIds = new Map<string, string>()
  let abstract = ''
  let number = ''
  let level = 0
  walkMarkup(xml, 'office', {
    open(tag, attributes) {
      if (tag === 'abstractNum') {
        abstract = findAttribute(attributes, 'abstractNumId') ?? ''
        abstracts.set(abstract, new Map())
      } else if (tag === 'num') number = findAttribute(attributes, 'numId') ?? ''
      else if (tag === 'abstractNumId') abstractIds.set(number, findAttribute(attributes, 'val') ?? '')
      else if (tag === 'lvl') level = Number(findAttribute(attributes, 'ilvl')) || 0
      else if (tag === 'numFmt') abstracts.get(abstract)?.set(level, findAttribute(attributes, 'val') ?? '')
    },
  })
  return (numbering) => {
    const format = abstracts.get(abstractIds.get(numbering.id) ?? '')?.get(numbering.level)
    return format !== undefined && format !== 'bullet' && format !== 'none'
  }
}

/** Returns footnotes or endnotes by id. */
export function readNotes(xml: string): Map<string, string> {
  const notes = new Map<string, string>()
  let id: string | undefined
  let parts: string[] = []
  let inText = false
  walkMarkup(xml, 'office', {
    open(tag, attributes) {
      if (tag === 'footnote' || tag === 'endnote') {
        const type = findAttribute(attributes, 'type')
        id = type === undefined || type === 'normal' ? findAttribute(attributes, 'id') : undefined
        parts = []
      } else if (tag === 't') inText = true
      else if (tag === 'p' || tag === 'tab' || tag === 'br') parts.push(' ')
    },
    close(tag) {
      if (tag === 't') inText = false
      const text = parts.join('').replaceAll(/\s+/g, ' ').trim()
      if ((tag === 'footnote' || tag === 'endnote') && id !== undefined && text !== '') notes.set(id, text)
    },
    text(text) {
      if (inText) parts.push(text)
    },
  })
  return notes
}
