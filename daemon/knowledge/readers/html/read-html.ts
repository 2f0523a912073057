/** Reads HTML pages: converts the content to Markdown, without navigation and other boilerplate. */

import { MarkdownWriter } from '../markdown-writer.ts'
import { cleanText, type ParsedDocument } from '../parsed-document.ts'
import { findElement, type HtmlElement, listDescendants, parseHtml } from './parse-html.ts'
import { writeHtml } from './write-html.ts'

const IGNORED_ELEMENTS = new Set(
  (
    'script style noscript template svg canvas iframe object embed applet audio video nav button select input textarea dialog head ' +
    'annotation annotation-xml ix:header'
  ).split(' '),
)
/** Ignored elements whose text users see. It is read if a page has no other. */
const FORM_ELEMENTS = new Set('button select textarea dialog'.split(' '))
const ASIDE_ELEMENTS = new Set(['header', 'footer', 'aside'])
const ASIDE_ROLES = new Set(['navigation', 'banner', 'contentinfo', 'search', 'complementary', 'menu', 'menubar', 'dialog', 'alertdialog'])
const BOILERPLATE_NAMES =
  'nav|navbar|navbox|navigation|sidebar|breadcrumbs?|cookies?|consent|footer|menu|share|sharing|social|advert|adverts|ads|banner|' +
  'skip|toc|toolbar|pagination|pager|related|catlinks|jump-to-nav|metadata'
const BOILERPLATE_CLASS = new RegExp(`(?:^|[\\s_-])(?:${BOILERPLATE_NAMES})(?:$|[\\s_-])`, 'i')
const HIDDEN_CLASS = /(?:^|\s)(?:mw-editsection|noprint|sr-only|visually-hidden|headerlink|anchor-link)(?:$|\s)/i
/** Boilerplate is only removed if at least this share of the text is left. */
const MIN_CONTENT_SHARE = 0.3

interface TextStatistics {
  textLength: number
  linkedLength: number
  linkCount: number
}

export function readHtml(source: string): ParsedDocument {
  const root = parseHtml(source)
  const statistics = measureText(root)
  const body = findElement(root, 'body') ?? root
  const content = removeBoilerplate(findContent(body, statistics), statistics)
  const title = findTitle(root)
  const writer = new MarkdownWriter()
  const hasHeading = findElement(content, 'h1') !== undefined
  if (title !== null && !hasHeading && !/\.\w{2,5}$/.test(title)) {
    writer.writeText(title)
    writer.endHeading(1)
  }
  writeHtml(content, writer)
  return { text: cleanText(writer.finish()), format: 'markdown', pages: [], title }
}

/** Returns a copy without hidden elements and navigation. */
export function removeHidden(page: HtmlElement): HtmlElement {
  return prune(page, (element) => isHidden(element) || element.name === 'nav').element
}

/** Returns the largest main or article element if it has enough of the text, else the body. */
function findContent(body: HtmlElement, statistics: Map<HtmlElement, TextStatistics>): HtmlElement {
  const getLength = (element: HtmlElement) => statistics.get(element)?.textLength ?? 0
  let largest: HtmlElement | undefined
  for (const element of listDescendants(body)) {
    const isContent = element.name === 'main' || element.name === 'article' || element.attributes.get('role') === 'main'
    if (isContent && (!largest || getLength(element) > getLength(largest))) largest = element
  }
  return largest && getLength(largest) >= getLength(body) * MIN_CONTENT_SHARE ? largest : body
}

/** Removes hidden elements, and boilerplate unless too little text would be left. */
function removeBoilerplate(content: HtmlElement, statistics: Map<HtmlElement, TextStatistics>): HtmlElement {
  const isInMain = content.name !== 'body' && content.name !== '#root'
  const visible = prune(content, isHidden)
  if (visible.textLength === 0) return prune(content, (element) => isHidden(element) && !FORM_ELEMENTS.has(element.name)).element
  const main = prune(visible.element, (element) => isBoilerplate(element, isInMain, statistics))
  return main.textLength >= visible.textLength * MIN_CONTENT_SHARE ? main.element : visible.element
}

function isHidden({ name, attributes }: HtmlElement): boolean {
  if (IGNORED_ELEMENTS.has(name)) return name !== 'nav'
  if (attributes.size === 0) return false
  if (attributes.has('hidden') || attributes.get('aria-hidden') === 'true') return true
  const classes = attributes.get('class') ?? ''
  // The marks of footnotes; links of Sphinx have the same class.
  if (name === 'sup' && /(?:^|\s)reference(?:$|\s)/.test(classes)) return true
  return /display\s{0,9}:\s{0,9}none/i.test(attributes.get('style') ?? '') || HIDDEN_CLASS.test(classes)
}

function isBoilerplate(element: HtmlElement, isInMain: boolean, statistics: Map<HtmlElement, TextStatistics>): boolean {
  const { name, attributes } = element
  if (name === 'nav' || attributes.get('role') === 'navigation') return true
  const { textLength, linkedLength, linkCount } = statistics.get(element) ?? { textLength: 0, linkedLength: 0, linkCount: 0 }
  if (!isInMain) {
    if (ASIDE_ELEMENTS.has(name) && findElement(element, 'h1') === undefined) return true
    if (ASIDE_ROLES.has(attributes.get('role') ?? '')) return true
    if (linkCount >= 8 && linkedLength >= textLength * 0.85 && (name === 'ul' || name === 'div' || name === 'table')) return true
  }
  const hasBoilerplateName = attributes.size > 0 && BOILERPLATE_CLASS.test(`${attributes.get('class') ?? ''} ${attributes.get('id') ?? ''}`)
  return (
    hasBoilerplateName && name !== 'body' && (linkedLength >= textLength * 0.4 || /cookie|consent/i.test(attributes.get('class') ?? ''))
  )
}

/** Returns a copy without the dropped elements, and the length of its text. */
function prune(element: HtmlElement, drop: (element: HtmlElement) => boolean): { element: HtmlElement; textLength: number } {
  let textLength = 0
  const copy = (original: HtmlElement): HtmlElement => {
    const children: HtmlElement['children'] = []
    for (const child of original.children) {
      if (typeof child === 'string') {
        textLength += child.trim().length
        children.push(child)
      } else if (!drop(child)) children.push(copy(child))
    }
    return { ...original, children }
  }
  return { element: copy(element), textLength }
}

/** Measures the text of each element and how much of it is in links. */
function measureText(root: HtmlElement): Map<HtmlElement, TextStatistics> {
  const statistics = new Map<HtmlElement, TextStatistics>()
  const walk = (element: HtmlElement, isLinked: boolean): TextStatistics => {
    const isInLink = isLinked || element.name === 'a'
    const own = { textLength: 0, linkedLength: 0, linkCount: element.name === 'a' ? 1 : 0 }
    for (const child of element.children) {
      if (typeof child === 'string') {
        const length = child.trim().length
        own.textLength += length
        if (isInLink) own.linkedLength += length
      } else if (!IGNORED_ELEMENTS.has(child.name) || child.name === 'nav') {
        const inner = walk(child, isInLink)
        own.textLength += inner.textLength
        own.linkedLength += inner.linkedLength
        own.linkCount += inner.linkCount
      }
    }
    statistics.set(element, own)
    return own
  }
  walk(root, false)
  return statistics
}

function findTitle(root: HtmlElement): string | null {
  const element = findElement(root, 'title') ?? findElement(root, 'h1')
  const title = element ? getText(element).replaceAll(/\s+/g, ' ').trim() : ''
  return title === '' ? null : title.slice(0, 300)
}

export function getText(element: HtmlElement): string {
  return element.children.map((child) => (typeof child === 'string' ? child : getText(child))).join('')
}
