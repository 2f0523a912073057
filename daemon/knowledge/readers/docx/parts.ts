/** The parts of a Word document beside its text: what its styles and numberings mean, and its notes. */

import { decodeText } from '../encoding/detect-encoding.ts'
import { parseAttributes, walkMarkup } from '../walk-markup.ts'
import type { ZipArchive } from '../zip-archive.ts'

export interface Numbering {
  id: string
  level: number
}

export interface Style {
  /** Level of the heading that the style makes of a paragraph. */
  heading: number | undefined
  numbering: Numbering | undefined
}

interface DeclaredStyle extends Style {
  base: string | undefined
}

/** The name of an element without its namespace's prefix. */
export const getLocalName = (name: string): string => name.slice(name.indexOf(':') + 1)

/** An attribute by its local name. */
export function findAttribute(written: string, name: string): string | undefined {
  for (const [key, value] of parseAttributes(written)) if (getLocalName(key) === name) return value
  return undefined
}

export function readPart(archive: ZipArchive, name: string): string {
  return archive.has(name) ? decodeText(archive.read(name)).text : ''
}

export function readStyles(xml: string): Map<string, Style> {
  const styles = new Map<string, DeclaredStyle>()
  let style: DeclaredStyle | undefined
  walkMarkup(
    xml,
    {
      open(name, written) {
        const tag = getLocalName(name)
        const value = () => findAttribute(written, 'val') ?? ''
        if (tag === 'style') {
          style = { heading: undefined, numbering: undefined, base: undefined }
          styles.set(findAttribute(written, 'styleId') ?? '', style)
        } else if (!style) return
        else if (tag === 'name') style.heading ??= parseHeadingName(value())
        else if (tag === 'basedOn') style.base = value()
        else if (tag === 'outlineLvl') style.heading ??= parseOutlineLevel(value())
        else if (tag === 'numId') style.numbering = { id: value(), level: style.numbering?.level ?? 0 }
        else if (tag === 'ilvl') style.numbering = { id: style.numbering?.id ?? '', level: Number(value()) || 0 }
      },
      close(name) {
        if (getLocalName(name) === 'style') style = undefined
      },
      text() {},
    },
    'xml',
  )
  return new Map([...styles].map(([id, own]) => [id, resolveStyle(own, styles)]))
}

function resolveStyle(own: DeclaredStyle, styles: Map<string, DeclaredStyle>): Style {
  let { heading, numbering } = own
  let base = own.base === undefined ? undefined : styles.get(own.base)
  for (let steps = 0; base && steps < 10; steps++) {
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

/** Outline levels count from 0, and 9 is plain text. */
export function parseOutlineLevel(value: string): number | undefined {
  const level = Number(value)
  return value !== '' && level >= 0 && level <= 5 ? level + 1 : undefined
}

/** Whether the items of a numbering's level are numbered rather than marked with bullets. */
export function readNumbering(xml: string): (numbering: Numbering) => boolean {
  const abstracts = new Map<string, Map<number, string>>()
  const abstractIds = new Map<string, string>()
  let abstract = ''
  let number = ''
  let level = 0
  walkMarkup(
    xml,
    {
      open(name, written) {
        const tag = getLocalName(name)
        if (tag === 'abstractNum') {
          abstract = findAttribute(written, 'abstractNumId') ?? ''
          abstracts.set(abstract, new Map())
        } else if (tag === 'num') number = findAttribute(written, 'numId') ?? ''
        else if (tag === 'abstractNumId') abstractIds.set(number, findAttribute(written, 'val') ?? '')
        else if (tag === 'lvl') level = Number(findAttribute(written, 'ilvl')) || 0
        else if (tag === 'numFmt') abstracts.get(abstract)?.set(level, findAttribute(written, 'val') ?? '')
      },
      close() {},
      text() {},
    },
    'xml',
  )
  return (numbering) => {
    const format = abstracts.get(abstractIds.get(numbering.id) ?? '')?.get(numbering.level)
    return format !== undefined && format !== 'bullet' && format !== 'none'
  }
}

/** Footnotes or endnotes by their number. */
export function readNotes(xml: string): Map<string, string> {
  const notes = new Map<string, string>()
  let id: string | undefined
  let parts: string[] = []
  let inText = false
  walkMarkup(
    xml,
    {
      open(name, written) {
        const tag = getLocalName(name)
        if (tag === 'footnote' || tag === 'endnote') {
          const type = findAttribute(written, 'type')
          id = type === undefined || type === 'normal' ? findAttribute(written, 'id') : undefined
          parts = []
        } else if (tag === 't') inText = true
        else if (tag === 'p' || tag === 'tab' || tag === 'br') parts.push(' ')
      },
      close(name) {
        const tag = getLocalName(name)
        if (tag === 't') inText = false
        const text = parts.join('').replaceAll(/\s+/g, ' ').trim()
        if ((tag === 'footnote' || tag === 'endnote') && id !== undefined && text !== '') notes.set(id, text)
      },
      text(text) {
        if (inText) parts.push(text)
      },
    },
    'xml',
  )
  return notes
}
