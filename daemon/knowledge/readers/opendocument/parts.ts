/** Reads the title, styles and encryption of OpenDocument files. */
import { describeUnreadParts, findTitle } from '../open-package.ts'
import { DocumentReadError } from '../parsed-document.ts'
import { parseAttributes, walkMarkup } from '../walk-markup.ts'
import type { ZipArchive } from '../zip-archive.ts'

const UNREAD_PARTS: [RegExp, string][] = [
  [/^Basic\/(?!script-lc\.xml$)[^/]+\/./, 'macros'],
  [/^Object [^/]+\/content\.xml$/, 'embedded objects'],
  [/^(?:Pictures|media)\/.*\.(?:png|jpe?g|gif|tiff?|webp|bmp|svg)$/i, 'images'],
]

export const describeUnreadObjects = (archive: ZipArchive): string | undefined => describeUnreadParts(archive.names, UNREAD_PARTS)

export const findOpenDocumentTitle = (archive: ZipArchive): string | null => findTitle(archive, 'meta.xml')

/** The parts of an encrypted document are ordinary files of the archive. */
export function requireUnencrypted(archive: ZipArchive): void {
  if (archive.readText('META-INF/manifest.xml').includes('encryption-data'))
    throw new DocumentReadError('The document is password-protected.')
}

interface ParagraphStyle {
  parent: string | undefined
  /** Heading level. */
  heading: number | undefined
  /** Whether a page starts before the paragraph. */
  breaksPage: boolean
  listStyle: string | undefined
}

export interface Styles {
  paragraphs: Map<string, ParagraphStyle>
  /** List levels with numbers, as `name:level`. */
  numberedLevels: Set<string>
}

const MAX_STYLE_DEPTH = 10

/** Adds the styles of a part, which are those of the document or of its content. */
export function readStyles(xml: string, styles: Styles = { paragraphs: new Map(), numberedLevels: new Set() }): Styles {
  let style: ParagraphStyle | undefined
  let list = ''
  walkMarkup(xml, 'xml', {
    open(name, source) {
      const read = (attribute: string) => parseAttributes(source).get(attribute)
      if (name === 'style:style') {
        style = {
          parent: read('style:parent-style-name'),
          heading: findHeadingLevel(read('style:name') ?? '', Number(read('style:default-outline-level'))),
          breaksPage: (read('style:master-page-name') ?? '') !== '',
          listStyle: read('style:list-style-name'),
        }
        styles.paragraphs.set(read('style:name') ?? '', style)
      } else if (name === 'style:paragraph-properties' && read('fo:break-before') === 'page') {
        if (style) style.breaksPage = true
      } else if (name === 'text:list-style') list = read('style:name') ?? ''
      else if (name === 'text:list-level-style-number' && read('style:num-format') !== '')
        styles.numberedLevels.add(`${list}:${read('text:level') ?? 1}`)
    },
  })
  return styles
}

/** The styles for headings may have no outline level, as in documents that were HTML. */
function findHeadingLevel(name: string, outlineLevel: number): number | undefined {
  if (outlineLevel >= 1) return outlineLevel
  const level = name === 'Title' ? 1 : Number(/^Heading_20_([1-9])$/.exec(name)?.[1])
  return level >= 1 ? level : undefined
}

/** Looks a property up in the style and those that it is based on. */
export function findStyleProperty<K extends 'heading' | 'listStyle'>(
  { paragraphs }: Styles,
  name: string,
  property: K,
): ParagraphStyle[K] | undefined {
  let style = paragraphs.get(name)
  // Bounded: styles may be based on each other in a cycle.
  for (let depth = 0; style && depth < MAX_STYLE_DEPTH; depth++) {
    if (style[property] !== undefined) return style[property]
    style = style.parent === undefined ? undefined : paragraphs.get(style.parent)
  }
  return undefined
}
