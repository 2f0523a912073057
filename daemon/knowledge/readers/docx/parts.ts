/** The parts of a Word document beside its text: what its styles and numberings mean, and its notes. */

import { decode } from '../encoding/detect-encoding.ts'
import { attributesOf, walkMarkup } from '../markup.ts'
import type { Archive } from '../zip.ts'

export interface Numbering {
  id: string
  level: number
}

export interface Style {
  /** Level of the heading that the style makes of a paragraph. */
  heading: number | undefined
  numbering: Numbering | undefined
}

interface WrittenStyle extends Style {
  base: string | undefined
}

/** The name of an element without its namespace's prefix. */
export const local = (name: string): string => name.slice(name.indexOf(':') + 1)

/** An attribute by its local name. */
export function attribute(written: string, name: string): string | undefined {
  for (const [key, value] of attributesOf(written)) if (local(key) === name) return value
  return undefined
}

export function partText(archive: Archive, name: string): string {
  return archive.has(name) ? decode(archive.read(name)).text : ''
}

export function readStyles(xml: string): Map<string, Style> {
  const styles = new Map<string, WrittenStyle>()
  let style: WrittenStyle | undefined
  walkMarkup(
    xml,
    {
      open(name, written) {
        const tag = local(name)
        const value = () => attribute(written, 'val') ?? ''
        if (tag === 'style') {
          style = { heading: undefined, numbering: undefined, base: undefined }
          styles.set(attribute(written, 'styleId') ?? '', style)
        } else if (!style) return
        else if (tag === 'name') style.heading ??= headingNamed(value())
        else if (tag === 'basedOn') style.base = value()
        else if (tag === 'outlineLvl') style.heading ??= outline(value())
        else if (tag === 'numId') style.numbering = { id: value(), level: style.numbering?.level ?? 0 }
        else if (tag === 'ilvl') style.numbering = { id: style.numbering?.id ?? '', level: Number(value()) || 0 }
      },
      close(name) {
        if (local(name) === 'style') style = undefined
      },
      text() {},
    },
    'xml',
  )
  return new Map([...styles].map(([id, own]) => [id, inherited(own, styles)]))
}

function inherited(own: WrittenStyle, styles: Map<string, WrittenStyle>): Style {
  let { heading, numbering } = own
  let base = own.base === undefined ? undefined : styles.get(own.base)
  for (let steps = 0; base && steps < 10; steps++) {
    heading ??= base.heading
    numbering ??= base.numbering
    base = base.base === undefined ? undefined : styles.get(base.base)
  }
  return { heading, numbering }
}

function headingNamed(name: string): number | undefined {
  const level = /^heading (\d)$/i.exec(name)?.[1]
  return level ? Number(level) : /^title$/i.test(name) ? 1 : undefined
}

/** Outline levels count from 0, and 9 is plain text. */
export function outline(value: string): number | undefined {
  const level = Number(value)
  return value !== '' && level >= 0 && level <= 5 ? level + 1 : undefined
}

/** Whether the items of a numbering's level are numbered rather than marked with bullets. */
export function readNumbering(xml: string): (numbering: Numbering) => boolean {
  const abstracts = new Map<string, Map<number, string>>()
  const numbers = new Map<string, string>()
  let abstract = ''
  let number = ''
  let level = 0
  walkMarkup(
    xml,
    {
      open(name, written) {
        const tag = local(name)
        if (tag === 'abstractNum') {
          abstract = attribute(written, 'abstractNumId') ?? ''
          abstracts.set(abstract, new Map())
        } else if (tag === 'num') number = attribute(written, 'numId') ?? ''
        else if (tag === 'abstractNumId') numbers.set(number, attribute(written, 'val') ?? '')
        else if (tag === 'lvl') level = Number(attribute(written, 'ilvl')) || 0
        else if (tag === 'numFmt') abstracts.get(abstract)?.set(level, attribute(written, 'val') ?? '')
      },
      close() {},
      text() {},
    },
    'xml',
  )
  return (numbering) => {
    const format = abstracts.get(numbers.get(numbering.id) ?? '')?.get(numbering.level)
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
        const tag = local(name)
        if (tag === 'footnote' || tag === 'endnote') {
          const type = attribute(written, 'type')
          id = type === undefined || type === 'normal' ? attribute(written, 'id') : undefined
          parts = []
        } else if (tag === 't') inText = true
        else if (tag === 'p' || tag === 'tab' || tag === 'br') parts.push(' ')
      },
      close(name) {
        const tag = local(name)
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
